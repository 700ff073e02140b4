/** Saves the whole log of a run as a file, as the service has it. */
import { api, unwrap } from "@/lib/api/client";

export async function downloadLog(runId: string): Promise<void> {
  const text = await unwrap(
    api.GET("/api/v1/runs/{run_id}/log", { params: { path: { run_id: runId } }, parseAs: "blob" }),
  );
  save(text as unknown as Blob, `${runId.slice(0, 8)}.log`);
}

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
