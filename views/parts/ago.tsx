import { capitalized, formatAgo, formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';

interface AgoProps {
  ctx: PageContext;
  /** Both in milliseconds since the epoch. */
  timeMs: number;
  nowMs: number;
  /** It begins its line. */
  isFirst?: boolean;
}

/** A relative time, which needs no time zone; the exact one is in its attributes. */
export function Ago({ ctx: { lang }, timeMs, nowMs, isFirst = false }: AgoProps) {
  const text = formatAgo(lang, timeMs, nowMs);
  return (
    <time dateTime={new Date(timeMs).toISOString()} title={formatDate(lang, timeMs, 'exact')}>
      {isFirst ? capitalized(lang, text) : text}
    </time>
  );
}
