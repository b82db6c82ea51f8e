import type { PageContext } from '../page-context.ts';
import { Snackbar } from '../parts/snackbar.tsx';

/** The action that has led to this page. */
export function Arrival({ ctx }: { ctx: PageContext }) {
  const { arrival, t } = ctx;
  return arrival && <Snackbar ctx={ctx} kind="success" text={t(arrival.text)} duration={arrival.duration} />;
}
