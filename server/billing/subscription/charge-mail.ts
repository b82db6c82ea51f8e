import type { MembershipMail } from '../../../views/mail/membership-notification.ts';
import { laterAmountsText, type TextContext } from '../checkout/plan-view.ts';
import type { NextCharge } from './membership.ts';

/** A mail, with the coming charge that it announces. */
export type ChargeMail = MembershipMail & { charge?: NextCharge | undefined };

/** Its values, with the sentences that the membership page has behind the amount of the same charge. */
export function toMailValues(ctx: TextContext, { values, charge }: ChargeMail): MembershipMail['values'] {
  const more = charge ? laterAmountsText(ctx, charge).replaceAll('\u00a0', ' ').trim() : '';
  return more === '' ? values : { ...values, more };
}
