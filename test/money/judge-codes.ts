import type { Findings } from './findings.ts';
import type { Press } from './ledger.ts';
import { type Books, isRenewal } from './stripe-books.ts';
import type { Member } from './world.ts';

/** How the refusal of a code as used up is wrong: only this member has tried it, with cards that were declined. */
export function findCodeFault(
  members: readonly Member[],
  member: Member,
  code: string | undefined,
): string | undefined {
  if (code === undefined) return undefined;
  const tried = members.flatMap((one) =>
    one.ledger.presses
      .filter(({ promo, outcome }) => promo === code && outcome !== 'refused' && outcome !== 'changed')
      .map((press) => ({ press, isDeclined: one === member && isDeclined(press) })),
  );
  if (tried.some((one) => !one.isDeclined)) return undefined;
  const own = tried.map(({ press: { planId, outcome } }) => `for ${planId}: ${outcome}`).join(', ');
  return `the page says that ${code} is used up, and no purchase has used it; pressed ${own || 'never'}`;
}

/** Nothing was paid, then or later. */
const isDeclined = ({ outcome, invoiceId }: Press): boolean => outcome === 'declined' && invoiceId === undefined;

/** O10: over all members, because they share the codes. */
export function judgeRedemptions(books: Books, members: readonly Member[], findings: Findings): void {
  if (books.subscriptions.some(({ pending_update: pending }) => pending)) return;
  const [first] = members;
  for (const coupon of books.coupons) {
    const own = new Set(books.discounts.filter(({ source }) => source.coupon === coupon.id).map(({ id }) => id));
    const bought = books.invoices.filter((invoice) => invoice.status === 'paid' && !isRenewal(invoice));
    const taken = bought.flatMap(({ total_discount_amounts: amounts }) => amounts ?? []);
    // A discount that lasts is on several invoices, and is redeemed once.
    const used = new Set(taken.flatMap(({ amount, discount }) => (amount > 0 && own.has(discount) ? [discount] : [])));
    const code = books.promotionCodes.find(({ promotion }) => promotion.coupon === coupon.id)?.code;
    const presses = members.flatMap((member) =>
      member.ledger.presses
        .filter(({ promo }) => promo === code)
        .map(({ outcome, planId, invoiceId }) => ({
          member,
          isOpen: invoiceId === undefined,
          text: `${member.email} for ${planId}: ${outcome}`,
        })),
    );
    // It is not tried at Stripe yet whether a purchase that fails gives its redemption back.
    const most = used.size + presses.filter(({ isOpen }) => isOpen).length;
    const member = presses.at(-1)?.member ?? first;
    if (member && (coupon.times_redeemed < used.size || coupon.times_redeemed > most)) {
      const tried = presses.map(({ text }) => text).join(', ');
      const counts = `redeemed ${coupon.times_redeemed} times, used by ${used.size} purchases`;
      findings.report('O10', member, `the coupon of ${code} is ${counts}; pressed by ${tried}`);
    }
  }
}
