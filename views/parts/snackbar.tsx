import type { PageContext } from '../page-context.ts';
import { Notice, type NoticeKind } from './notice.tsx';
import { type NoticeDuration, noticeDurationsMs } from './notice-durations.ts';
import { PassingNotice } from './passing-notice.tsx';

/** A message that floats over the bottom of the page for its duration. */
export function Snackbar(props: { ctx: PageContext; kind: NoticeKind; text: string; duration: NoticeDuration }) {
  const { ctx, kind, text, duration } = props;
  const durationMs = noticeDurationsMs[duration];
  return (
    <div className="snackbar">
      {durationMs === null ? (
        <Notice kind={kind}>{text}</Notice>
      ) : (
        <PassingNotice ctx={ctx} kind={kind} text={text} durationMs={durationMs} />
      )}
    </div>
  );
}
