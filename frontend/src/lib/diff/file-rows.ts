/** The changed files as rows of a list: each folder once, its files below it. Pure. */
import type { FileDiff } from "@/lib/queries/diffs";

export type FileRow =
  | { readonly kind: "folder"; readonly name: string }
  | {
      readonly kind: "file";
      readonly name: string;
      readonly file: FileDiff;
      /** Its place among all files. */
      readonly index: number;
      readonly isIndented: boolean;
    };

/** Rows of the files whose path has all of `words` in it, in the order of the files' folders. */
export function fileRows(files: readonly FileDiff[], words: string): readonly FileRow[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const folders = new Map<string, FileRow[]>();
  files.forEach((file, index) => {
    const path = file.path.toLowerCase();
    if (!wanted.every((each) => path.includes(each))) return;
    const end = file.path.lastIndexOf("/");
    const folder = file.path.slice(0, end + 1);
    const row: FileRow = {
      kind: "file",
      name: file.path.slice(end + 1),
      file,
      index,
      isIndented: folder !== "",
    };
    folders.set(folder, [...(folders.get(folder) ?? []), row]);
  });
  return [...folders].flatMap(([folder, rows]) =>
    folder === "" ? rows : [{ kind: "folder" as const, name: folder } as FileRow].concat(rows),
  );
}
