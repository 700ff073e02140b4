/** The document's title and icon: how many runs need a person, and the state of the run that the page shows. */

export type PageState = "running" | "waiting" | "done" | "failed";

const ICONS: Record<PageState | "none", string> = {
  none: "/favicon.svg",
  running: "/favicon-running.svg",
  waiting: "/favicon-waiting.svg",
  done: "/favicon-done.svg",
  failed: "/favicon-failed.svg",
};

let page = "";
let state: PageState | null = null;
let waiting = 0;

function show(): void {
  const name = page ? `${page} · PhaseRunner` : "PhaseRunner";
  document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
  const icon = document.querySelector<HTMLLinkElement>("link[rel=icon]");
  const wanted = ICONS[state ?? (waiting > 0 ? "waiting" : "none")];
  if (icon && icon.getAttribute("href") !== wanted) icon.setAttribute("href", wanted);
}

export const documentTitle = {
  /** `of` is the state of the run that the page is about; none for other pages. */
  setPage(title: string, of: PageState | null = null): void {
    page = title;
    state = of;
    show();
  },
  setWaiting(count: number): void {
    waiting = count;
    show();
  },
};
