import type { ArrivalNotice } from '../../views/page-context.ts';
import { isKeyIn } from '../shared/index.ts';

/** The notices about an action that may lead to any page: its layout shows them. */
const arrivals = {
  'terms:accepted': { text: 'terms.TERMS_OF_SERVICE_MESSAGE_ACCEPTED', duration: 'terms' },
  'account:linked': { text: 'federation.linked.done.linked', duration: 'profile' },
} as const satisfies Record<string, ArrivalNotice>;

export type ArrivalName = keyof typeof arrivals;

export const findArrival = (name: string): ArrivalNotice | undefined =>
  isKeyIn(arrivals, name) ? arrivals[name] : undefined;
