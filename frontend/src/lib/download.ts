/** Saves what the service has of a run as a file: its log, its result as a patch or as a bundle. */
import { api, unwrap } from "@/lib/api/client";

export async function downloadLog(runId: string): Promise<void> {
  const text = await unwrap(
    api.GET("/api/v1/runs/{run_id}/log", { params: { path: { run_id: runId } }, parseAs: "blob" }),
  );
  save(text as unknown as Blob, `${runId.slice(0, 8)}.log`);
}

export async function downloadPatch(runId: string): Promise<void> {
  const patch = await unwrap(
    api.GET("/api/v1/runs/{run_id}/result.patch", { params: { path: { run_id: runId } }, parseAs: "blob" }),
  );
  save(patch as unknown as Blob, `${runId.slice(0, 8)}.patch`);
}

export async function downloadBundle(runId: string): Promise<void> {
  const bundle = await unwrap(
    api.GET("/api/v1/runs/{run_id}/result.bundle", { params: { path: { run_id: runId } }, parseAs: "blob" }),
  );
  save(bundle as unknown as Blob, `${runId.slice(0, 8)}.bundle`);
}

export function saveText(text: string, name: string, type: string): void {
  save(new Blob([text], { type }), name);
}

function save(content: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
