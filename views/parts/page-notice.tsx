import type { PageContext } from '../page-context.ts';
import { Notice, type NoticeKind } from './notice.tsx';
import { type NoticeDuration, noticeDurationsMs } from './notice-durations.ts';
import { PassingNotice } from './passing-notice.tsx';

export interface PageNoticeProps {
  kind: NoticeKind;
  title?: string | undefined;
  text: string;
  /** By default it stays. */
  duration?: NoticeDuration;
}

/** A message about the whole page, for the specification's duration. */
export function PageNotice({ ctx, notice }: { ctx: PageContext; notice: PageNoticeProps | undefined }) {
  if (notice === undefined) return null;
  const { duration = 'never', text, ...look } = notice;
  const durationMs = noticeDurationsMs[duration];
  if (durationMs !== null) return <PassingNotice ctx={ctx} {...look} text={text} durationMs={durationMs} />;
  return <Notice {...look}>{text}</Notice>;
}
