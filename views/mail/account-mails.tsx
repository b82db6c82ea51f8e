import { MailDocument } from './mail-document.tsx';
import type { MailProps } from './mail-props.ts';
import { LinkButton, Paragraph, TextLink } from './parts.tsx';

interface NameValues {
  givenName?: string | undefined;
}

/** A new account. */
export function Welcome({ ctx, subject, values }: MailProps<NameValues & { provider?: string | undefined }>) {
  const { t, brand, links } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name="welcome" givenName={values.givenName}>
      <Paragraph ctx={ctx}>
        {values.provider === undefined
          ? t('mail.welcome.lead')
          : t('mail.welcome.leadProvider', { provider: values.provider })}
      </Paragraph>
      <LinkButton ctx={ctx} href={links.home}>
        {t('mail.welcome.open', { brand: brand.name })}
      </LinkButton>
      <Paragraph ctx={ctx} quiet>
        {t('mail.welcome.notYou')}{' '}
        <TextLink ctx={ctx} href={links.forgotPassword}>
          {t('mail.setPassword')}
        </TextLink>
      </Paragraph>
    </MailDocument>
  );
}

/** A sign-up with a user's address; the page did not reveal that. */
export function AccountExists({ ctx, subject, values }: MailProps<NameValues>) {
  const { t, links } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name="accountExists" givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t('mail.accountExists.lead')}</Paragraph>
      <LinkButton ctx={ctx} href={links.home}>
        {t('mail.accountExists.signIn')}
      </LinkButton>
      <Paragraph ctx={ctx}>
        {t('mail.accountExists.forgotten')}{' '}
        <TextLink ctx={ctx} href={links.forgotPassword}>
          {t('mail.setPassword')}
        </TextLink>
      </Paragraph>
      <Paragraph ctx={ctx} quiet>
        {t('mail.accountExists.notYou')}
      </Paragraph>
    </MailDocument>
  );
}

/** A sign-in of an imported user without a password; the page did not reveal that. */
export function FirstPassword({ ctx, subject, values }: MailProps<NameValues>) {
  const { t, brand, links } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name="firstPassword" givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t('mail.firstPassword.lead', { brand: brand.name })}</Paragraph>
      <LinkButton ctx={ctx} href={links.forgotPassword}>
        {t('mail.setPassword')}
      </LinkButton>
      <Paragraph ctx={ctx} quiet>
        {t('mail.firstPassword.notYou')}
      </Paragraph>
    </MailDocument>
  );
}
