/** The document's title: how many runs need a human, then the page. */
let page = "";
let waiting = 0;

function show(): void {
  const name = page ? `${page} · PhaseRunner` : "PhaseRunner";
  document.title = waiting > 0 ? `(${waiting}) ${name}` : name;
}

export const documentTitle = {
  setPage(title: string): void {
    page = title;
    show();
  },
  setWaiting(count: number): void {
    waiting = count;
    show();
  },
};
