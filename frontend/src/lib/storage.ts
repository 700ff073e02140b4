/** What this browser keeps between visits. Where it forbids that, or is full, it lasts as long as the page. */

const unkept = new Map<string, string>();

export const storage = {
  get(key: string): string | null {
    try {
      return unkept.get(key) ?? localStorage.getItem(key);
    } catch {
      return null;
    }
  },
  set(key: string, value: string): void {
    try {
      localStorage.setItem(key, value);
      unkept.delete(key);
    } catch {
      unkept.set(key, value);
    }
  },
  remove(key: string): void {
    unkept.delete(key);
    try {
      localStorage.removeItem(key);
    } catch {
      // There is nothing to remove.
    }
  },
  /** Of all that is kept. */
  keys(): readonly string[] {
    try {
      return Object.keys(localStorage);
    } catch {
      return [];
    }
  },
};
