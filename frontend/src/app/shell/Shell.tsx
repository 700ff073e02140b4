/** The frame of every page: navigation, connection, palette, help. */
import { Outlet, useRouterState } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { ConnectionBanner } from "@/components/ConnectionBanner";

import { Header } from "./Header";
import { KeyboardHelp } from "./KeyboardHelp";
import { PaletteDialog } from "./PaletteDialog";
import { useWaitingNotice } from "./waiting-notice";

export function Shell() {
  const main = useRef<HTMLElement>(null);
  const pathname = useRouterState({ select: (state) => state.location.pathname });
  const shown = useRef(pathname);
  useWaitingNotice();

  // As after loading a new page: reading goes on at its beginning.
  useEffect(() => {
    if (shown.current !== pathname) main.current?.focus({ preventScroll: true });
    shown.current = pathname;
  }, [pathname]);

  return (
    <div className="flex min-h-dvh flex-col">
      <a href="#main" className="sr-only focus:not-sr-only focus:p-2">
        Skip to the content
      </a>
      <Header />
      <ConnectionBanner />
      <main id="main" ref={main} tabIndex={-1} className="mx-auto w-full flex-1 px-4 pb-8 outline-none">
        <Outlet />
      </main>
      <PaletteDialog />
      <KeyboardHelp />
    </div>
  );
}
