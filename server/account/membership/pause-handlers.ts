import { PauseMembershipPage } from '../../../views/account/pause-membership-page.tsx';
import { membershipPath } from '../../../views/account/tabs.ts';
import { toAnnouncedPause } from '../../billing/index.ts';
import { membershipPageAfter } from '../notices.ts';
import { requireRecentAuth } from '../recent-auth-guard.ts';
import { settingsPage } from '../settings-page.ts';
import { askStripe, readIfAvailable } from './ask-stripe.ts';
import { toNextChargeView } from './membership-view.ts';

/** The hidden field with what the page has announced of a pause of so many months. */
const announcedField = (months: number | string) => `announced-${months}`;

/** A pause after the paid period. The page names its days and the charge at its end, and only they are scheduled. */
export const pausePage = settingsPage({
  path: `${membershipPath}/pause`,
  title: 'membership.pause.title',
  guard: requireRecentAuth,
  Page: PauseMembershipPage,
  async toProps(r, { membership }) {
    const { catalogue } = membership;
    const offers = await readIfAvailable(r, 'settings: pause', () => membership.quotePauses(r.user.id));
    // That page says so.
    if (!offers) return membershipPath;
    const [first] = offers;
    const current = await membership.getMembership(r.user.id);
    if (!first || !current) return membershipPageAfter('nothing');
    return {
      plan: catalogue.byId(current.paidPlanId)?.name ?? '',
      until: first.beginsAt,
      base: catalogue.byId(current.basePlanId)?.name,
      options: offers.map(({ months, resumesAt, next }) => ({ months, resumesAt, ...toNextChargeView(r, next) })),
      fields: Object.fromEntries(offers.map((one) => [announcedField(one.months), toAnnouncedPause(one)])),
    };
  },
  async act(r, { membership }) {
    const chosen = r.field('months');
    if (!/^[1-9]\d?$/.test(chosen)) return { status: 422, error: r.t('membership.pause.missing') };
    const choice = { months: Number(chosen), announced: r.field(announcedField(chosen)) };
    const answered = await askStripe(r, () => membership.pause(r.user, choice));
    if ('status' in answered) return answered;
    if (answered.value === 'changed') {
      return { status: 409, chosen, problem: { text: r.t('membership.pause.changed') } };
    }
    const noticeNames = { paused: 'pause', noted: 'pause-noted', 'no-change': 'nothing' } as const;
    return membershipPageAfter(noticeNames[answered.value]);
  },
});
