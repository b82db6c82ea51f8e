import { formatDate } from '../format.ts';
import { MailDocument } from './mail-document.tsx';
import type { MailProps } from './mail-props.ts';
import { Facts, LinkButton, Paragraph } from './parts.tsx';

interface ChangeValues {
  givenName?: string | undefined;
  atMs: number;
}
interface NewAddressValues extends ChangeValues {
  newEmail: string;
  device: string;
  address: string;
}
interface UndoValues extends NewAddressValues {
  undoUrl: string;
  undoUntilMs: number;
}

function ChangeFacts({ ctx, values }: Pick<MailProps<NewAddressValues>, 'ctx' | 'values'>) {
  const { t, lang } = ctx;
  return (
    <Facts
      ctx={ctx}
      facts={[
        [t('mail.emailChangeRequested.newAddress'), values.newEmail],
        [t('mail.when'), formatDate(lang, values.atMs, 'exact')],
        [t('mail.device'), values.device],
        [t('mail.address'), values.address],
      ]}
    />
  );
}

/** To the address that is about to be replaced. */
export function EmailChangeAsked({ ctx, subject, values }: MailProps<NewAddressValues>) {
  const { t, links } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name="emailChangeRequested" givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t('mail.emailChangeRequested.lead')}</Paragraph>
      <ChangeFacts ctx={ctx} values={values} />
      <Paragraph ctx={ctx}>{t('mail.emailChangeRequested.notYou')}</Paragraph>
      <LinkButton ctx={ctx} href={links.forgotPassword}>
        {t('mail.setPassword')}
      </LinkButton>
    </MailDocument>
  );
}

/** To the replaced address, with the undo link. */
export function EmailChanged({ ctx, subject, values }: MailProps<UndoValues>) {
  const { t, lang } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name="emailChanged" givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t('mail.emailChanged.lead')}</Paragraph>
      <ChangeFacts ctx={ctx} values={values} />
      <Paragraph ctx={ctx}>
        {t('mail.emailChanged.notYou', { until: formatDate(lang, values.undoUntilMs, 'exact') })}
      </Paragraph>
      <LinkButton ctx={ctx} href={values.undoUrl}>
        {t('mail.emailChanged.undo')}
      </LinkButton>
    </MailDocument>
  );
}

/** To the temporary address of an account, without anything about its owner. */
export function EmailUndone({ ctx, subject, values }: MailProps<ChangeValues>) {
  const { t, lang } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name="emailUndone" givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t('mail.emailUndone.lead')}</Paragraph>
      <Facts ctx={ctx} facts={[[t('mail.when'), formatDate(lang, values.atMs, 'exact')]]} />
      <Paragraph ctx={ctx}>{t('mail.emailUndone.notYou')}</Paragraph>
    </MailDocument>
  );
}
