import { type Language, languageNames } from '../../locales/index.ts';
import { formatDate } from '../format.ts';
import type { PageContext } from '../page-context.ts';
import { EditLink } from './edit-link.tsx';
import { Facts } from './facts.tsx';
import { listTextFields, type UserData, type UserDataField } from './user-data.ts';

const isGender = (code: string | null): code is '0' | '1' | '2' | '3' =>
  code !== null && ['0', '1', '2', '3'].includes(code);
const isLanguage = (code: string | null): code is Language => code !== null && Object.hasOwn(languageNames, code);

interface UserDataCardProps {
  ctx: PageContext;
  data: UserData;
  /** Fields that are not shown. */
  withheld?: readonly string[] | undefined;
}

/** The user's own data, to read, with one link to change them. */
export function UserDataCard({ ctx, data, withheld = [] }: UserDataCardProps) {
  const { t, lang } = ctx;
  const readText = (name: UserDataField) => {
    const value = data[name];
    return typeof value === 'string' ? value : null;
  };
  const toFact = (name: UserDataField, value: string | null) => ({
    label: t(`settings.userData.fields.${name}`),
    value: value ?? t('settings.userData.none'),
    quiet: value === null,
  });
  const [birthdate, code, locale] = [readText('birthdate'), readText('gender'), readText('locale')];
  const day = birthdate === null ? Number.NaN : Date.parse(`${birthdate}T00:00:00Z`);
  const gender = isGender(code) ? code : '0';
  return (
    <section className="card">
      <div className="card-head with-act">
        <h2>{t('settings.userData.title')}</h2>
        <EditLink ctx={ctx} href="/settings/profile" what={t('settings.userData.what')} />
        <p className="muted small">{t('settings.userData.note')}</p>
      </div>
      <Facts
        facts={[
          toFact('preferredUsername', readText('preferredUsername')),
          toFact('birthdate', Number.isNaN(day) ? null : formatDate(lang, day)),
          { ...toFact('gender', t(`settings.userData.genders.${gender}`)), quiet: gender === '0' },
          ...listTextFields(data, withheld).map((name) => toFact(name, readText(name))),
          toFact('address', readText('address')),
          toFact('newsletter', t(`settings.userData.${data.newsletter === true ? 'subscribed' : 'notSubscribed'}`)),
          toFact('locale', isLanguage(locale) ? languageNames[locale] : t('settings.userData.localeDefault')),
          toFact('zoneinfo', readText('zoneinfo')?.replaceAll('_', ' ') ?? null),
        ]}
      />
    </section>
  );
}
