import type { PageContext } from '../page-context.ts';
import type { NoticeKind } from './notice.tsx';
import type { NoticeDuration } from './notice-durations.ts';
import { PageNotice } from './page-notice.tsx';

/** A message that floats over the bottom of the page for its duration. */
export function Snackbar(props: { ctx: PageContext; kind: NoticeKind; text: string; duration: NoticeDuration }) {
  const { ctx, ...notice } = props;
  return (
    <div className="snackbar">
      <PageNotice ctx={ctx} notice={notice} />
    </div>
  );
}
