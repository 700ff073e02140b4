// @vitest-environment jsdom
import { cleanup, render, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, expect, it, vi } from "vitest";

import { DownloadButton } from "./DownloadButton";

vi.setConfig({ testTimeout: 120_000 });
afterEach(cleanup);

it("asks for a file once, until it is there", async () => {
  let end = () => {};
  const save = vi.fn(() => new Promise<void>((resolve) => (end = resolve)));
  render(
    <DownloadButton what="log" save={save}>
      Download
    </DownloadButton>,
  );
  const button = screen.getByRole("button", { name: "Download" });
  await userEvent.click(button);
  await userEvent.click(button);
  expect(button.textContent).toBe("Loading …");
  expect(save).toHaveBeenCalledTimes(1);
  end();
  await screen.findByRole("button", { name: "Download" });
  await userEvent.click(button);
  expect(save).toHaveBeenCalledTimes(2);
});
