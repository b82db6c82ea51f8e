import { formatDate } from '../format.ts';
import type { MailProps } from './index.ts';
import { MailDocument } from './mail-document.tsx';
import { Facts, LinkButton, Paragraph } from './parts.tsx';

interface ChangedValues {
  givenName?: string | undefined;
  atMs: number;
}
interface DeviceValues extends ChangedValues {
  device: string;
  address: string;
}

function Warning(
  props: MailProps<ChangedValues> & { name: 'passwordChanged' | 'newDevice'; facts: [string, string][] },
) {
  const { ctx, subject, values, name, facts } = props;
  const { t, links } = ctx;
  return (
    <MailDocument ctx={ctx} subject={subject} name={name} givenName={values.givenName}>
      <Paragraph ctx={ctx}>{t(`mail.${name}.lead`)}</Paragraph>
      <Facts ctx={ctx} facts={[[t('mail.when'), formatDate(ctx.lang, values.atMs, 'exact')], ...facts]} />
      <Paragraph ctx={ctx}>{t(`mail.${name}.notYou`)}</Paragraph>
      <LinkButton ctx={ctx} href={links.forgotPassword}>
        {t('mail.setPassword')}
      </LinkButton>
    </MailDocument>
  );
}

export function PasswordChanged(props: MailProps<ChangedValues>) {
  return <Warning {...props} name="passwordChanged" facts={[]} />;
}

export function NewDevice(props: MailProps<DeviceValues>) {
  const { ctx, values } = props;
  const facts: [string, string][] = [
    [ctx.t('mail.device'), values.device],
    [ctx.t('mail.address'), values.address],
  ];
  return <Warning {...props} name="newDevice" facts={facts} />;
}
