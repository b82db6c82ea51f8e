import { GiftPage } from '../../../views/billing/gift-page.tsx';
import { formatDate } from '../../../views/format.ts';
import { AddressWithNotice, type PageHandler, type RequestContext } from '../../http/index.ts';
import type { User } from '../../users/index.ts';
import type { GiftObstacle, GiftResult } from '../gifts/gift-rules.ts';
import { findCheckoutUser, type PageRetry, runWithStripe, unpaidAddress } from './checkout-context.ts';
import type { CheckoutDeps } from './checkout-deps.ts';
import { completionUrl, giftPath } from './checkout-flow.ts';
import { type PageNotice, tooManyText } from './checkout-texts.ts';
import type { TextContext } from './plan-view.ts';

/** Longer than any code with its dashes. */
const maxTyped = 60;

interface GiftPageState extends Partial<PageRetry> {
  /** Of the field. */
  error?: string;
  /** An unknown code, to correct it: one that is known is a secret, and is not kept. */
  typed?: string;
}

function render(r: RequestContext, user: User, view: GiftPageState): void {
  const { search } = r.continuation;
  const address = giftPath + search;
  const state: GiftPageState | undefined = r.viewAt(address, view);
  if (!state) return;
  const { status, notice, error, typed } = state;
  r.render(
    GiftPage,
    {
      action: address,
      // A link fills the code in; only the form redeems it.
      code: typed ?? (r.query('code') ?? '').slice(0, maxTyped),
      other:
        user.planId === null
          ? { href: `/plan-purchase${search}`, label: r.t('membership.act.choose') }
          : { href: unpaidAddress, label: r.t('checkout.cancel') },
      ...(notice && { notice }),
      ...(error !== undefined && { error }),
    },
    { title: 'checkout.gift.heading', address, status, search },
  );
}

/** Says how the user can redeem the code later: it stays valid. */
function obstacleText({ t, lang }: TextContext, obstacle: GiftObstacle, validUntil: number): string {
  const date = formatDate(lang, validUntil);
  const day = (at: number) => formatDate(lang, at);
  switch (obstacle.kind) {
    case 'paid': {
      const plan = obstacle.plan?.name ?? '';
      return obstacle.until === null
        ? t('checkout.gift.refused.paid', { plan, date })
        : t('checkout.gift.refused.ending', { plan, date, end: day(obstacle.until) });
    }
    case 'partner':
      return t('checkout.gift.refused.partner', { plan: obstacle.plan.name, date });
    case 'gift':
      return t('checkout.gift.refused.gift', { plan: obstacle.plan.name, date, end: day(obstacle.until) });
    case 'paying':
      return t('checkout.gift.refused.paying', { date });
  }
}

const info = (text: string): PageNotice => ({ kind: 'info', text, duration: 'never' });

function toRefusal(r: RequestContext, result: Exclude<GiftResult, { kind: 'redeemed' }>, typed: string): GiftPageState {
  switch (result.kind) {
    case 'refused':
      return { status: 409, notice: info(obstacleText(r, result.obstacle, result.validUntil)) };
    case 'too-many':
      r.setRetryAfter(result.retryAfterMs);
      return { status: 429, error: tooManyText(r.t, 'gift', result.retryAfterMs) };
    case 'unknown':
      return { status: 400, typed, error: r.t('checkout.gift.unknown') };
    default:
      return { status: 400, error: r.t(`checkout.gift.${result.kind}`) };
  }
}

/** For signed-in users: a visitor comes back to the page, with the code of the link. */
const requireGiftUser =
  (handler: (r: RequestContext, user: User, deps: CheckoutDeps) => unknown): PageHandler<CheckoutDeps> =>
  async (r, deps) => {
    const user = await findCheckoutUser(r, deps);
    if (user) await handler(r, user, deps);
  };

export const showGift = requireGiftUser((r, user) => render(r, user, {}));

/** POST: redeems the code, and goes on to where the user was going, else to the membership. */
export const submitGift = requireGiftUser(async (r, user, { membership }) => {
  const typed = r.field('code').slice(0, maxTyped);
  if (typed.trim() === '') return render(r, user, { status: 400, error: r.t('checkout.gift.missing') });
  const rerender = (view: PageRetry) => render(r, user, view);
  const answered = await runWithStripe(r, { act: 'update', rerender }, () =>
    membership.redeemGift(user, typed, { ip: r.ip }),
  );
  if (!answered) return;
  const { value: result } = answered;
  if (result.kind !== 'redeemed') return render(r, user, toRefusal(r, result, typed));
  const { authorization, returnTo, search } = r.continuation;
  const isOnTheWay = authorization !== undefined || returnTo !== undefined;
  r.redirect(
    isOnTheWay ? completionUrl(result.plan, false, search) : new AddressWithNotice(unpaidAddress, 'membership:gift'),
  );
});
