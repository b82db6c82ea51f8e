import type { PageContext } from '../page-context.ts';
import { Notice, type NoticeKind } from '../parts/notice.tsx';
import { type NoticeDuration, noticeDurationsMs } from '../parts/notice-durations.ts';
import { PassingNotice } from '../parts/passing-notice.tsx';

export interface CheckoutNoticeProps {
  kind: NoticeKind;
  title?: string;
  text: string;
  duration: NoticeDuration;
}

/** A message about the whole page, for the specification's duration. */
export function CheckoutNotice({ ctx, notice }: { ctx: PageContext; notice: CheckoutNoticeProps | undefined }) {
  if (notice === undefined) return null;
  const { duration, text, ...look } = notice;
  const durationMs = noticeDurationsMs[duration];
  if (durationMs !== null) return <PassingNotice ctx={ctx} {...look} text={text} durationMs={durationMs} />;
  return <Notice {...look}>{text}</Notice>;
}
