import { MailDocument } from './mail-document.tsx';
import type { MailProps } from './mail-props.ts';
import { Code, Paragraph } from './parts.tsx';

export interface CodeValues {
  givenName?: string | undefined;
  code: string;
  minutes: number;
}

function CodeMail({
  ctx,
  subject,
  values,
  name,
}: MailProps<CodeValues> & { name: 'verifyEmail' | 'passwordReset' | 'changeEmail' | 'signInCode' }) {
  const { t, brand } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name={name} givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t(`mail.${name}.lead`)}</Paragraph>
      <Code ctx={ctx}>{values.code}</Code>
      <Paragraph ctx={ctx}>
        {t('mail.codeValidity', { count: values.minutes })} {t('mail.keepSecret', { brand: brand.name })}
      </Paragraph>
      <Paragraph ctx={ctx} quiet>
        {t(`mail.${name}.notYou`)}
      </Paragraph>
    </MailDocument>
  );
}

/** The code that proves an address. */
export function VerifyEmail(props: MailProps<CodeValues>) {
  return <CodeMail {...props} name="verifyEmail" />;
}

/** The code for a forgotten password. */
export function PasswordReset(props: MailProps<CodeValues>) {
  return <CodeMail {...props} name="passwordReset" />;
}

/** The additional code of a sign-in while very many attempts are made. */
export function SignInCode(props: MailProps<CodeValues>) {
  return <CodeMail {...props} name="signInCode" />;
}

/** The code that proves a new address. */
export function ChangeEmail(props: MailProps<CodeValues>) {
  return <CodeMail {...props} name="changeEmail" />;
}
