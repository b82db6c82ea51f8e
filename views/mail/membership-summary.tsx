import { cardName } from '../billing/card-name.ts';
import { formatAmount, formatDate } from '../format.ts';
import type { MailContext } from './mail-context.ts';
import { MailDocument } from './mail-document.tsx';
import type { MailProps } from './mail-props.ts';
import { type Fact, Facts, LinkButton, Paragraph, TextLink } from './parts.tsx';

export type { Fact } from './parts.tsx';

/** Times in milliseconds since the epoch, amounts in cents. */
export interface AboutValues {
  givenName?: string | undefined;
  pageLink: string;
}
export interface CardValues {
  cardType?: string;
  lastFour?: string;
}
export type PlanType = '1' | '2';
type Name =
  | ('receipt' | 'paymentFailed' | 'paymentActionRequired' | 'trialEnds' | 'planCancelled' | 'planEnded')
  | ('planChanges' | 'refundMade' | 'cardChanged' | 'cardRemoved');

/** A fact with a known value; `value` renders it. */
export function fact<Known>(label: string, known: Known | undefined, value: (known: Known) => string): Fact[] {
  return known === undefined ? [] : [[label, value(known)]];
}
export const date =
  ({ lang }: MailContext) =>
  (atMs: number) =>
    formatDate(lang, atMs);
export const amount =
  ({ lang }: MailContext, currency: string) =>
  (cents: number) =>
    formatAmount(lang, cents, { currency });
export const card = ({ cardType, lastFour }: CardValues) =>
  cardType === undefined || lastFour === undefined ? undefined : cardName({ brand: cardType, lastFour });
export const keepCasing = (words: string) => words;

export function planWithPeriod({ t }: MailContext, plan: string, type: PlanType | undefined): string {
  if (type === undefined) return plan;
  return t(`mail.membership.${type === '1' ? 'monthly' : 'yearly'}`, { plan });
}

/** Their common parts: the event, the figures, the advice, and one link for it. */
export function AboutMembership(
  props: MailProps<AboutValues> & {
    name: Name;
    lead: string;
    facts: readonly Fact[];
    advice?: string;
    act?: { href: string; label: string };
    invoiceUrl?: string | undefined;
  },
) {
  const { ctx, subject, values, name, lead, facts, advice, invoiceUrl } = props;
  const { t } = ctx;
  const act = props.act ?? { href: values.pageLink, label: t('mail.membership.open') };
  return (
    <MailDocument ctx={ctx} subject={subject} name={name} givenName={values.givenName}>
      <Paragraph ctx={ctx}>{lead}</Paragraph>
      <Facts ctx={ctx} facts={facts} />
      {advice !== undefined && <Paragraph ctx={ctx}>{advice}</Paragraph>}
      <LinkButton ctx={ctx} href={act.href}>
        {act.label}
      </LinkButton>
      {invoiceUrl !== undefined && (
        <Paragraph ctx={ctx}>
          <TextLink ctx={ctx} href={invoiceUrl}>
            {t('mail.membership.invoice')}
          </TextLink>
        </Paragraph>
      )}
    </MailDocument>
  );
}
