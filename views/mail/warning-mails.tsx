import type { texts } from '../../locales/index.ts';
import { formatDate } from '../format.ts';
import { MailDocument, type Titled } from './mail-document.tsx';
import type { MailProps } from './mail-props.ts';
import { Facts, LinkButton, Paragraph } from './parts.tsx';

interface ChangedValues {
  givenName?: string | undefined;
  atMs: number;
}
interface DeviceValues extends ChangedValues {
  device: string;
  address: string;
}
interface NoticeValues extends DeviceValues {
  change: keyof (typeof texts)['en']['mail']['securityNotice']['changes'];
  detail?: string;
}

type Warned = 'passwordChanged' | 'newDevice' | 'recoveryCodeUsed' | 'secondFactorGuessed' | 'securityNotice';
type WarningProps = MailProps<ChangedValues> &
  Titled & { name: Warned; facts: [string, string][] /** If the mail's own text does not apply. */; notYou?: string };

function Warning({ ctx, subject, values, facts, notYou, ...titled }: WarningProps) {
  const { t, links } = ctx;
  const { name } = titled;
  return (
    <MailDocument ctx={ctx} subject={subject} givenName={values.givenName} {...titled}>
      <Paragraph ctx={ctx}>{t(`mail.${name}.lead`)}</Paragraph>
      <Facts ctx={ctx} facts={[[t('mail.when'), formatDate(ctx.lang, values.atMs, 'exact')], ...facts]} />
      <Paragraph ctx={ctx}>{notYou ?? t(`mail.${name}.notYou`)}</Paragraph>
      <LinkButton ctx={ctx} href={links.forgotPassword}>
        {t('mail.setPassword')}
      </LinkButton>
    </MailDocument>
  );
}

export function PasswordChanged(props: MailProps<ChangedValues>) {
  return <Warning {...props} name="passwordChanged" facts={[]} />;
}

const whereFrom = ({ t }: MailProps<DeviceValues>['ctx'], { device, address }: DeviceValues): [string, string][] => [
  [t('mail.device'), device],
  [t('mail.address'), address],
];

export function NewDevice(props: MailProps<DeviceValues & { hasPassword?: boolean | undefined }>) {
  const { ctx, values } = props;
  const notYou = values.hasPassword === false && { notYou: ctx.t('mail.newDevice.notYouNoPassword') };
  return <Warning {...props} name="newDevice" facts={whereFrom(ctx, values)} {...notYou} />;
}

export function RecoveryCodeUsed(props: MailProps<DeviceValues & { left: number }>) {
  const { ctx, values } = props;
  const facts: [string, string][] = [
    ...whereFrom(ctx, values),
    [ctx.t('mail.recoveryCodeUsed.left'), String(values.left)],
  ];
  return <Warning {...props} name="recoveryCodeUsed" facts={facts} />;
}

/** Someone knows the password and tries second factors. */
export function SecondFactorGuessed(props: MailProps<DeviceValues>) {
  const { ctx, values } = props;
  const facts = whereFrom(ctx, values);
  return <Warning {...props} name="secondFactorGuessed" facts={facts} />;
}

/** One mail for every change in the settings: its subject and title name the change. */
export function SecurityNotice(props: MailProps<NoticeValues>) {
  const { ctx, values } = props;
  const { change, detail } = values;
  const facts = whereFrom(ctx, values);
  if (detail !== undefined) facts.unshift([ctx.t('mail.securityNotice.detail'), detail]);
  return (
    <Warning {...props} name="securityNotice" title={ctx.t(`mail.securityNotice.changes.${change}`)} facts={facts} />
  );
}
