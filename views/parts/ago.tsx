import { formatAgo, formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';

interface AgoProps {
  ctx: PageContext;
  /** Both in milliseconds since the epoch. */
  timeMs: number;
  nowMs: number;
}

/** A relative time, which needs no time zone; the exact one is in its attributes. */
export function Ago({ ctx: { lang }, timeMs, nowMs }: AgoProps) {
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={formatDate(lang, timeMs, 'exact')}>
      {formatAgo(lang, timeMs, nowMs)}
    </time>
  );
}
