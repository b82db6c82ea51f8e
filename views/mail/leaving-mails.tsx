import { formatDate } from '../format.ts';
import type { MailProps } from './index.ts';
import { MailDocument } from './mail-document.tsx';
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

/** What all of them have in common: what happens, when, what to do about it, and one way to do that. */
function About(
  props: MailProps<AskedValues> & {
    name: 'deletionAsked' | 'deletionCancelled' | 'factorResetAsked' | 'factorResetCancelled' | 'factorResetDone';
    facts: [string, string][];
    advice: string;
    act: { href: string; label: string };
  },
) {
  const { ctx, subject, values, name, facts, advice, act } = props;
  const { t, brand, lang } = ctx;
  return (
    <MailDocument
      ctx={ctx}
      subject={subject}
      preheader={t(`leaving.mail.${name}.preheader`)}
      title={t(`leaving.mail.${name}.title`)}
      givenName={values.givenName}
      why={t(`leaving.mail.${name}.why`, { brand: brand.name })}
    >
      <Paragraph ctx={ctx}>{t(`leaving.mail.${name}.lead`)}</Paragraph>
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

/** Somebody who was signed in wants the account to be deleted. */
export function DeletionAsked(props: MailProps<FromValues & { dueAtMs: number }>) {
  const { ctx, values } = props;
  const { t, lang, links } = ctx;
  return (
    <About
      {...props}
      name="deletionAsked"
      facts={[[t('leaving.mail.by'), formatDate(lang, values.dueAtMs, 'exact')], ...whereFrom(ctx, values)]}
      advice={t('leaving.mail.deletionAsked.stay')}
      act={{ href: links.home, label: t('leaving.mail.deletionAsked.signIn') }}
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
      advice={ctx.t('leaving.mail.deletionCancelled.notYou')}
      act={newPassword(ctx)}
    />
  );
}

/** An operator was asked to take the second factor away: with the way to say no. */
export function FactorResetAsked(props: MailProps<AskedValues & { dueAtMs: number; cancelUrl: string }>) {
  const { ctx, values } = props;
  const { t, lang } = ctx;
  return (
    <About
      {...props}
      name="factorResetAsked"
      facts={[[t('leaving.mail.resetBy'), formatDate(lang, values.dueAtMs, 'exact')]]}
      advice={t('leaving.mail.factorResetAsked.notYou')}
      act={{ href: values.cancelUrl, label: t('leaving.mail.factorResetAsked.stop') }}
    />
  );
}

export function FactorResetCancelled(props: MailProps<AskedValues>) {
  const { ctx } = props;
  const advice = ctx.t('leaving.mail.factorResetCancelled.notYou');
  return <About {...props} name="factorResetCancelled" facts={[]} advice={advice} act={newPassword(ctx)} />;
}

export function FactorResetDone(props: MailProps<AskedValues>) {
  const { ctx } = props;
  const advice = ctx.t('leaving.mail.factorResetDone.notYou');
  return <About {...props} name="factorResetDone" facts={[]} advice={advice} act={newPassword(ctx)} />;
}
