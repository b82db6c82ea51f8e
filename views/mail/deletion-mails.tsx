import { formatDate } from '../format.ts';
import { MailDocument } from './mail-document.tsx';
import type { MailProps } from './mail-props.ts';
import { Facts, LinkButton, Paragraph } from './parts.tsx';

interface AskedValues {
  givenName?: string | undefined;
  atMs: number;
}
interface FromValues extends AskedValues {
  device: string;
  address: string;
}

const whereFrom = ({ t }: MailProps<FromValues>['ctx'], { device, address }: FromValues): [string, string][] => [
  [t('mail.device'), device],
  [t('mail.address'), address],
];

/** Their common parts: the event, its time, the advice, and one link for it. */
function About(
  props: MailProps<AskedValues> & {
    name:
      | 'deletionRequested'
      | 'deletionCancelled'
      | 'factorResetRequested'
      | 'factorResetCancelled'
      | 'factorResetDone';
    facts: [string, string][];
    advice: string;
    act: { href: string; label: string };
  },
) {
  const { ctx, subject, values, name, facts, advice, act } = props;
  const { t, lang } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name={name} givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t(`mail.${name}.lead`)}</Paragraph>
      <Facts ctx={ctx} facts={[...facts, [t('mail.when'), formatDate(lang, values.atMs, 'exact')]]} />
      <Paragraph ctx={ctx}>{advice}</Paragraph>
      <LinkButton ctx={ctx} href={act.href}>
        {act.label}
      </LinkButton>
    </MailDocument>
  );
}

const newPassword = ({ t, links }: MailProps<AskedValues>['ctx']) => ({
  href: links.forgotPassword,
  label: t('mail.setPassword'),
});

/** A signed-in user has requested the deletion of the account. */
export function DeletionAsked(props: MailProps<FromValues & { dueAtMs: number }>) {
  const { ctx, values } = props;
  const { t, lang, links } = ctx;
  return (
    <About
      {...props}
      name="deletionRequested"
      facts={[[t('mail.by'), formatDate(lang, values.dueAtMs, 'exact')], ...whereFrom(ctx, values)]}
      advice={t('mail.deletionRequested.stay')}
      act={{ href: links.home, label: t('mail.deletionRequested.signIn') }}
    />
  );
}

export function DeletionCancelled(props: MailProps<FromValues>) {
  const { ctx, values } = props;
  return (
    <About
      {...props}
      name="deletionCancelled"
      facts={whereFrom(ctx, values)}
      advice={ctx.t('mail.deletionCancelled.notYou')}
      act={newPassword(ctx)}
    />
  );
}

/** An operator was asked to remove the second factor: with the link to cancel. */
export function FactorResetAsked(props: MailProps<AskedValues & { dueAtMs: number; cancelUrl: string }>) {
  const { ctx, values } = props;
  const { t, lang } = ctx;
  return (
    <About
      {...props}
      name="factorResetRequested"
      facts={[[t('mail.resetBy'), formatDate(lang, values.dueAtMs, 'exact')]]}
      advice={t('mail.factorResetRequested.notYou')}
      act={{ href: values.cancelUrl, label: t('mail.factorResetRequested.stop') }}
    />
  );
}

export function FactorResetCancelled(props: MailProps<AskedValues>) {
  const { ctx } = props;
  const advice = ctx.t('mail.factorResetCancelled.notYou');
  return <About {...props} name="factorResetCancelled" facts={[]} advice={advice} act={newPassword(ctx)} />;
}

export function FactorResetDone(props: MailProps<AskedValues>) {
  const { ctx } = props;
  const advice = ctx.t('mail.factorResetDone.notYou');
  return <About {...props} name="factorResetDone" facts={[]} advice={advice} act={newPassword(ctx)} />;
}
