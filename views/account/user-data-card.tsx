import { type Language, languageNames } from '../../locales/index.ts';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { EditLink } from './edit-link.tsx';
import { Facts } from './facts.tsx';

export interface UserDataCardProps {
  ctx: PageContext;
  /** ISO 8601 date. */
  birthdate: string | null;
  gender: string;
  address: string | null;
  companyName: string | null;
  jobTitle: string | null;
  newsletter: boolean;
  locale: string | null;
}

const isGender = (code: string): code is '0' | '1' | '2' | '3' => ['0', '1', '2', '3'].includes(code);
const isLanguage = (code: string | null): code is Language => code !== null && Object.hasOwn(languageNames, code);

/** The user's own data, to read, with one link to change them. */
export function UserDataCard({ ctx, ...data }: UserDataCardProps) {
  const { t, lang } = ctx;
  const displayValue = (value: string | null) => ({
    value: value ?? t('settings.userData.none'),
    quiet: value === null,
  });
  const day = data.birthdate === null ? Number.NaN : Date.parse(`${data.birthdate}T00:00:00Z`);
  const gender = isGender(data.gender) ? data.gender : '0';
  return (
    <section className="card">
      <div className="card-head with-act">
        <h2>{t('settings.userData.title')}</h2>
        <EditLink ctx={ctx} href="/settings/profile" what={t('settings.userData.what')} />
        <p className="muted small">{t('settings.userData.note')}</p>
      </div>
      <Facts
        facts={[
          {
            label: t('settings.userData.birthdate'),
            ...displayValue(Number.isNaN(day) ? null : formatDate(lang, day)),
          },
          {
            label: t('settings.userData.gender'),
            value: t(`settings.userData.genders.${gender}`),
            quiet: gender === '0',
          },
          { label: t('settings.userData.companyName'), ...displayValue(data.companyName) },
          { label: t('settings.userData.jobTitle'), ...displayValue(data.jobTitle) },
          { label: t('settings.userData.address'), ...displayValue(data.address) },
          {
            label: t('settings.userData.newsletter'),
            value: t(data.newsletter ? 'settings.userData.subscribed' : 'settings.userData.notSubscribed'),
          },
          {
            label: t('settings.userData.locale'),
            value: isLanguage(data.locale) ? languageNames[data.locale] : t('settings.userData.localeDefault'),
          },
        ]}
      />
    </section>
  );
}
