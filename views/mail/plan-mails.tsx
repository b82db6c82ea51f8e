import type { MailProps } from './mail-props.ts';
import {
  AboutMembership,
  type AboutValues,
  amount,
  date,
  fact,
  keepCasing,
  type PlanType,
  planWithPeriod,
} from './membership-summary.tsx';

export function TrialEnds(props: MailProps<AboutValues & { days: number; endsAt: number }>) {
  const { ctx, values } = props;
  const { t } = ctx;
  return (
    <AboutMembership
      {...props}
      name="trialEnds"
      lead={t('mail.trialEnds.lead', { count: values.days })}
      facts={[[t('mail.membership.endsOn'), date(ctx)(values.endsAt)]]}
      advice={t('mail.trialEnds.nothing')}
      act={{ href: values.pageLink, label: t('mail.membership.choose') }}
    />
  );
}

export function PlanCancelled(props: MailProps<AboutValues & { planName: string; endsAt: number }>) {
  const { ctx, values } = props;
  const { t } = ctx;
  return (
    <AboutMembership
      {...props}
      name="planCancelled"
      lead={t('mail.planCancelled.lead')}
      facts={[
        [t('mail.membership.plan'), values.planName],
        [t('mail.membership.endsOn'), date(ctx)(values.endsAt)],
      ]}
      advice={t('mail.planCancelled.back')}
    />
  );
}

interface EndedValues extends AboutValues {
  planName: string;
  endedAt: number;
  why: 'cancelled' | 'unpaid';
  planNow?: string;
}

export function PlanEnded(props: MailProps<EndedValues>) {
  const { ctx, values } = props;
  const { t } = ctx;
  return (
    <AboutMembership
      {...props}
      name="planEnded"
      lead={t(`mail.planEnded.lead.${values.why}`)}
      facts={[
        [t('mail.membership.plan'), values.planName],
        [t('mail.membership.endedOn'), date(ctx)(values.endedAt)],
        ...fact(t('mail.membership.nowOn'), values.planNow, keepCasing),
      ]}
      advice={t('mail.planEnded.back')}
    />
  );
}

interface ChangesValues extends AboutValues {
  fromPlan: string;
  toPlan: string;
  toPlanType?: PlanType;
  changesAt: number;
  amountCents: number;
  currency: string;
}

/** A change at the period's end. */
export function PlanChanges(props: MailProps<ChangesValues>) {
  const { ctx, values } = props;
  const { t } = ctx;
  return (
    <AboutMembership
      {...props}
      name="planChanges"
      lead={t('mail.planChanges.lead')}
      facts={[
        [t('mail.membership.from'), values.fromPlan],
        [t('mail.membership.changesOn'), date(ctx)(values.changesAt)],
        [t('mail.membership.to'), planWithPeriod(ctx, values.toPlan, values.toPlanType)],
        [t('mail.membership.planAmount'), amount(ctx, values.currency)(values.amountCents)],
      ]}
      advice={t('mail.planChanges.back')}
    />
  );
}
