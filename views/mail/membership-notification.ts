import type { Language, T } from '../../locales/index.ts';
import { formatAmount, formatPlainDate } from '../format.ts';
import { failedPaymentLead } from './facts.ts';
import type { MembershipMailValues } from './index.ts';

type Own<Template extends keyof MembershipMailValues> = Omit<MembershipMailValues[Template], 'givenName' | 'pageLink'>;

/** One mail. `once`: it is sent a single time while its state lasts, from any process. */
export type MembershipMail = {
  [Template in keyof MembershipMailValues]: { template: Template; values: Own<Template>; once?: string };
}[keyof MembershipMailValues];

/** Plan and amount, or what of them is known. */
const toLine = (...parts: readonly (string | undefined)[]) => parts.filter((part) => part !== undefined).join(' · ');

interface Reader {
  lang: Language;
  t: T;
}

interface MailNotice {
  title: string;
  description: string;
}

function toComingNotification({ lang, t }: Reader, { template, values }: MembershipMail): MailNotice | undefined {
  switch (template) {
    case 'plan-pauses': {
      const start = `${t('mail.membership.pausesOn')} ${formatPlainDate(lang, values.pausesAt)}`;
      return { title: t('mail.planPauses.title'), description: toLine(values.planName, start) };
    }
    case 'plan-paused': {
      const end = `${t('mail.membership.resumesOn')} ${formatPlainDate(lang, values.resumesAt)}`;
      return { title: t('mail.planPaused.title'), description: toLine(values.planName, end) };
    }
    case 'gift-redeemed':
    case 'gift-ends': {
      const end = `${t('mail.membership.endsOn')} ${formatPlainDate(lang, values.endsAt)}`;
      const title = t(template === 'gift-ends' ? 'mail.giftEnds.title' : 'mail.giftRedeemed.title');
      return { title, description: toLine(values.planName, end) };
    }
    case 'plan-trial-began':
    case 'plan-trial-ends': {
      const charge = `${formatAmount(lang, values.amountCents, values)} ${formatPlainDate(lang, values.chargedAt)}`;
      const title = t(template === 'plan-trial-ends' ? 'mail.planTrialEnds.title' : 'mail.planTrialBegan.title');
      return { title, description: toLine(values.planName, charge) };
    }
    case 'plan-not-paused':
      return { title: t('mail.planNotPaused.title'), description: values.planName };
    default:
      return undefined;
  }
}

/** The mails about money and the plan that are also shown inside the marketplace, short. */
export function toNotification({ lang, t }: Reader, mail: MembershipMail): MailNotice | undefined {
  const { template, values } = mail;
  switch (template) {
    case 'receipt': {
      const amount = formatAmount(lang, values.totalAmount, { currency: values.currency });
      return { title: t('mail.receipt.title'), description: toLine(values.planName, amount) };
    }
    case 'refund-made':
    case 'refund-failed': {
      const title = t(template === 'refund-made' ? 'mail.refundMade.title' : 'mail.refundFailed.title');
      const amount = formatAmount(lang, values.amountCents, { currency: values.currency });
      return { title, description: toLine(values.planName, amount) };
    }
    case 'payment-disputed': {
      const amount = formatAmount(lang, values.amountCents, { currency: values.currency });
      return { title: t('mail.paymentDisputed.title'), description: toLine(values.planName, amount) };
    }
    case 'plan-changes': {
      const plans = `${values.fromPlan} → ${values.toPlan}`;
      return {
        title: t('mail.planChanges.title'),
        description: toLine(plans, formatPlainDate(lang, values.changesAt)),
      };
    }
    case 'plan-cancelled': {
      const end = `${t('mail.membership.endsOn')} ${formatPlainDate(lang, values.endsAt)}`;
      return { title: t('mail.planCancelled.title'), description: toLine(values.planName, end) };
    }
    case 'plan-not-resumed': {
      const end = `${t('mail.membership.endsOn')} ${formatPlainDate(lang, values.endsAt)}`;
      return { title: t('mail.planNotResumed.title'), description: toLine(values.planName, end) };
    }
    case 'payment-failed':
      return { title: t('mail.paymentFailed.title'), description: t(failedPaymentLead(values)) };
    case 'payment-action-required':
      return { title: t('mail.paymentActionRequired.title'), description: t('mail.paymentActionRequired.lead') };
    case 'trial-ends':
      return { title: t('mail.trialEnds.title'), description: t('mail.trialEnds.lead', { count: values.days }) };
    case 'plan-ended':
      return { title: t('mail.planEnded.title'), description: t(`mail.planEnded.lead.${values.why}`) };
    default:
      return toComingNotification({ lang, t }, mail);
  }
}
