import type { PageContext } from '../page-context.ts';
import { PageNotice } from '../parts/page-notice.tsx';
import { Snackbar } from '../parts/snackbar.tsx';

/** The action that has led to this page. */
export function Arrival({ ctx }: { ctx: PageContext }) {
  const { arrival, t } = ctx;
  return arrival && <Snackbar ctx={ctx} kind="success" text={t(arrival.text)} duration={arrival.duration} />;
}

/** The same above the button of a page that continues by itself: there is no time to look at the edge of the page. */
export function ArrivalAbove({ ctx }: { ctx: PageContext }) {
  const { arrival, t } = ctx;
  return (
    arrival && <PageNotice ctx={ctx} notice={{ kind: 'success', text: t(arrival.text), duration: arrival.duration }} />
  );
}

/** For the layout of a page with {@link ArrivalAbove}. */
export const withoutArrival = ({ arrival: _shown, ...ctx }: PageContext): PageContext => ctx;
