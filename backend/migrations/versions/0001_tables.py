"""The tables of runs, attempts, verdicts, escalations and events."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "api_tokens",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "role IN ('viewer', 'operator', 'reviewer', 'admin')", name=op.f("ck_api_tokens_role")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_api_tokens")),
        sa.UniqueConstraint("digest", name=op.f("uq_api_tokens_digest")),
        sa.UniqueConstraint("name", name=op.f("uq_api_tokens_name")),
    )
    op.create_table(
        "idempotency_keys",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("route", sa.Text(), nullable=False),
        sa.Column("request_digest", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=False),
        sa.Column("body", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("key", "route", name=op.f("pk_idempotency_keys")),
    )
    op.create_index(op.f("ix_idempotency_keys_created_at"), "idempotency_keys", ["created_at"], unique=False)
    op.create_table(
        "runs",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("phases", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("phase", sa.Text(), nullable=True),
        sa.Column("policy", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("agent", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("source", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("status_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("base_commit", sa.Text(), nullable=False),
        sa.Column("head_commit", sa.Text(), nullable=False),
        sa.Column("used_requests", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("used_tool_calls", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("used_input_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("used_output_tokens", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("used_cost_usd", sa.Double(), nullable=True),
        sa.Column("last_sequence", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("parent_run_id", sa.Uuid(), nullable=True),
        sa.Column("fence_job", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("fence_try", sa.Integer(), server_default="0", nullable=False),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("traceparent", sa.Text(), nullable=True),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('queued', 'active', 'waiting', 'completed', 'failed', 'cancelled')",
            name=op.f("ck_runs_status"),
        ),
        sa.ForeignKeyConstraint(
            ["parent_run_id"], ["runs.id"], name=op.f("fk_runs_parent_run_id"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_runs")),
    )
    op.create_index("ix_runs_created_at_id", "runs", ["created_at", "id"], unique=False)
    op.create_index(op.f("ix_runs_parent_run_id"), "runs", ["parent_run_id"], unique=False)
    op.create_index(
        "ix_runs_status",
        "runs",
        ["status"],
        unique=False,
        postgresql_where=sa.text("status IN ('queued', 'active', 'waiting')"),
    )
    op.create_table(
        "attempts",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("claim", sa.Uuid(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("prompt", sa.Text(), nullable=False),
        sa.Column("optimization_context", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("output", sa.Text(), server_default="", nullable=False),
        sa.Column("base_commit", sa.Text(), nullable=False),
        sa.Column("head_commit", sa.Text(), nullable=True),
        sa.Column("tree", sa.Text(), nullable=True),
        sa.Column("changed_files", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.Column("chosen_candidate", sa.Integer(), nullable=True),
        sa.Column("score", sa.Double(), nullable=True),
        sa.Column("verdict", sa.Text(), nullable=True),
        sa.Column("verdict_reason", sa.Text(), server_default="", nullable=False),
        sa.Column("fingerprint", sa.Text(), nullable=True),
        sa.Column("usage", postgresql.JSONB(astext_type=sa.Text()), server_default="{}", nullable=False),
        sa.Column("agent_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("needs_human", sa.Boolean(), server_default="false", nullable=False),
        sa.Column("evaluation_failures", sa.Integer(), server_default="0", nullable=False),
        sa.Column("lost_workers", sa.Integer(), server_default="0", nullable=False),
        sa.Column("not_before", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_error", sa.Text(), server_default="", nullable=False),
        sa.Column("trace_id", sa.Text(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("produced_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint(
            "status IN ('started', 'agent_failed', 'produced', 'evaluating', 'passed', 'failed')",
            name=op.f("ck_attempts_status"),
        ),
        sa.CheckConstraint("number >= 1", name=op.f("ck_attempts_number")),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_attempts_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attempts")),
        sa.UniqueConstraint("run_id", "phase", "number", name=op.f("uq_attempts_run_id_phase_number")),
    )
    op.create_table(
        "escalations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("reason_kind", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), server_default="open", nullable=False),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("guidance", sa.Text(), server_default="", nullable=False),
        sa.Column(
            "line_comments", postgresql.JSONB(astext_type=sa.Text()), server_default="[]", nullable=False
        ),
        sa.Column("additional_attempts", sa.Integer(), server_default="0", nullable=False),
        sa.Column("decided_by", sa.Text(), nullable=True),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), server_default="1", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint(
            "(status = 'resolved') = (decision IS NOT NULL)", name=op.f("ck_escalations_resolved")
        ),
        sa.CheckConstraint("decision IN ('accept', 'retry', 'reject')", name=op.f("ck_escalations_decision")),
        sa.CheckConstraint("status IN ('open', 'resolved', 'withdrawn')", name=op.f("ck_escalations_status")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_escalations_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_escalations")),
    )
    op.create_index("ix_escalations_run_id_phase", "escalations", ["run_id", "phase"], unique=False)
    op.create_index("ix_escalations_status_created_at", "escalations", ["status", "created_at"], unique=False)
    op.create_index(
        "uq_escalations_open",
        "escalations",
        ["run_id"],
        unique=True,
        postgresql_where=sa.text("status = 'open'"),
    )
    op.create_table(
        "events",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("sequence", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("phase", sa.Text(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("data", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("trace_id", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["run_id"], ["runs.id"], name=op.f("fk_events_run_id"), ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("run_id", "sequence", name=op.f("pk_events")),
    )
    op.create_table(
        "snapshots",
        sa.Column("run_id", sa.Uuid(), nullable=False),
        sa.Column("commit", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("bundle", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('base', 'attempt')", name=op.f("ck_snapshots_kind")),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_snapshots_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "commit", name=op.f("pk_snapshots")),
    )
    op.create_table(
        "candidates",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("attempt_id", sa.Uuid(), nullable=False),
        sa.Column("index", sa.Integer(), nullable=False),
        sa.Column("agent", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=True),
        sa.Column("output", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("metrics", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("head_commit", sa.Text(), nullable=True),
        sa.Column("tree", sa.Text(), nullable=True),
        sa.Column("changed_files", postgresql.ARRAY(sa.Text()), server_default="{}", nullable=False),
        sa.ForeignKeyConstraint(
            ["attempt_id"], ["attempts.id"], name=op.f("fk_candidates_attempt_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_candidates")),
        sa.UniqueConstraint("attempt_id", "index", name=op.f("uq_candidates_attempt_id_index")),
    )
    op.create_table(
        "evaluations",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("candidate_id", sa.Uuid(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("evaluator", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("gate", sa.Boolean(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("score", sa.Double(), nullable=False),
        sa.Column("feedback", sa.Text(), nullable=False),
        sa.Column("criteria", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("suggestions", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("metadata", postgresql.JSONB(astext_type=sa.Text()), nullable=False),
        sa.Column("duration_ms", sa.Integer(), nullable=True),
        sa.Column("trace_id", sa.Text(), nullable=True),
        sa.Column(
            "evaluated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False
        ),
        sa.CheckConstraint(
            "status IN ('passed', 'failed', 'errored', 'skipped')", name=op.f("ck_evaluations_status")
        ),
        sa.ForeignKeyConstraint(
            ["candidate_id"], ["candidates.id"], name=op.f("fk_evaluations_candidate_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_evaluations")),
        sa.UniqueConstraint("candidate_id", "evaluator", name=op.f("uq_evaluations_candidate_id_evaluator")),
    )
    op.create_index(
        "ix_evaluations_evaluator_evaluated_at", "evaluations", ["evaluator", "evaluated_at"], unique=False
    )
    op.create_table(
        "verdict_marks",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("evaluation_id", sa.Uuid(), nullable=False),
        sa.Column("was_right", sa.Boolean(), nullable=False),
        sa.Column("note", sa.Text(), server_default="", nullable=False),
        sa.Column("marked_by", sa.Text(), nullable=False),
        sa.Column("marked_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["evaluation_id"],
            ["evaluations.id"],
            name=op.f("fk_verdict_marks_evaluation_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_verdict_marks")),
        sa.UniqueConstraint(
            "evaluation_id", "marked_by", name=op.f("uq_verdict_marks_evaluation_id_marked_by")
        ),
    )


def downgrade() -> None:
    op.drop_table("verdict_marks")
    op.drop_index("ix_evaluations_evaluator_evaluated_at", table_name="evaluations")
    op.drop_table("evaluations")
    op.drop_table("candidates")
    op.drop_table("snapshots")
    op.drop_table("events")
    op.drop_index(
        "uq_escalations_open", table_name="escalations", postgresql_where=sa.text("status = 'open'")
    )
    op.drop_index("ix_escalations_status_created_at", table_name="escalations")
    op.drop_index("ix_escalations_run_id_phase", table_name="escalations")
    op.drop_table("escalations")
    op.drop_table("attempts")
    op.drop_index(
        "ix_runs_status",
        table_name="runs",
        postgresql_where=sa.text("status IN ('queued', 'active', 'waiting')"),
    )
    op.drop_index(op.f("ix_runs_parent_run_id"), table_name="runs")
    op.drop_index("ix_runs_created_at_id", table_name="runs")
    op.drop_table("runs")
    op.drop_index(op.f("ix_idempotency_keys_created_at"), table_name="idempotency_keys")
    op.drop_table("idempotency_keys")
    op.drop_table("api_tokens")
