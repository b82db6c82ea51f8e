import type { TextSink } from '../io.ts';

/** Interval for updates of a terminal's line, and for new lines of a log. In milliseconds. */
const [terminalEveryMs, lineEveryMs] = [100, 5_000];
const barWidth = 24;

interface Progress {
  /** @param share of the completed work, 0 to 1 */
  show(share: number, rows: number): void;
  /** Removes the bar. */
  end(): void;
}

export const whole = (count: number) => count.toLocaleString('en');

function progressLine(what: string, share: number, rows: number): string {
  const done = Math.min(1, Math.max(0, share));
  const full = Math.round(done * barWidth);
  return `${what} [${'#'.repeat(full)}${'.'.repeat(barWidth - full)}] ${String(Math.floor(done * 100)).padStart(3)} %  ${whole(rows)} rows`;
}

/** A bar on a terminal; a line every few seconds elsewhere; nothing for programs. */
export function createProgress(
  sink: TextSink,
  what: string,
  { quiet = false, nowMs = () => performance.now() } = {},
): Progress {
  const terminal = sink.isTTY === true;
  const everyMs = terminal ? terminalEveryMs : lineEveryMs;
  let lastMs = terminal ? Number.NEGATIVE_INFINITY : nowMs();
  let isVisible = false;
  return {
    show(share, rows) {
      if (quiet || nowMs() - lastMs < everyMs) return;
      lastMs = nowMs();
      isVisible = true;
      if (terminal) sink.write(`\r\u001b[K${progressLine(what, share, rows)}`);
      else sink.write(`${what}: ${Math.floor(share * 100)} %, ${whole(rows)} rows\n`);
    },
    end() {
      if (terminal && isVisible) sink.write('\r\u001b[K');
    },
  };
}
