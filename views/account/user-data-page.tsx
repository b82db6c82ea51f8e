import { languageNames, languages } from '../../locales/index.ts';
import type { PageContext } from '../page-context.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import { SelectField } from '../parts/select-field.tsx';
import { TextareaField } from '../parts/textarea-field.tsx';
import { AccountAction, ActButtons, type ActionProblem } from './account-action.tsx';

const names = ['birthdate', 'gender', 'address', 'companyName', 'jobTitle', 'newsletter', 'locale'] as const;
type Name = (typeof names)[number];
/** The form's values: texts, empty if unset. */
export type UserDataValues = Record<Name, string>;

export interface UserDataPageProps {
  ctx: PageContext;
  action: string;
  values: UserDataValues;
  errors: Partial<Record<Name, string>>;
  problem?: ActionProblem;
}

/** The specification's codes, the default first. */
const genders = ['0', '1', '2', '3'] as const;

/** The user's work and place. */
function Work({ ctx, values, errors }: UserDataPageProps) {
  const { t } = ctx;
  return (
    <>
      <TextareaField
        name="address"
        label={t('settings.userData.address')}
        hint={t('settings.userData.addressHint')}
        error={errors.address}
        defaultValue={values.address}
        rows={3}
      />
      <div className="pair">
        <Field
          name="company"
          label={t('settings.userData.companyName')}
          error={errors.companyName}
          type="text"
          autoComplete="organization"
          defaultValue={values.companyName}
        />
        <Field
          name="job_title"
          label={t('settings.userData.jobTitle')}
          error={errors.jobTitle}
          type="text"
          autoComplete="organization-title"
          defaultValue={values.jobTitle}
        />
      </div>
    </>
  );
}

/** The user data in one form (specification, section 3: user attributes). */
export function UserDataPage(props: UserDataPageProps) {
  const { ctx, action, values, errors, problem } = props;
  const { t } = ctx;
  return (
    <AccountAction ctx={ctx} id="edit-user-data" title={t('settings.userData.edit')} tab="user-data" problem={problem}>
      <form className="form" method="post" action={action} noValidate>
        <div className="pair">
          <Field
            name="birthdate"
            label={t('settings.userData.birthdate')}
            error={errors.birthdate}
            type="date"
            autoComplete="bday"
            defaultValue={values.birthdate}
          />
          <SelectField
            name="gender"
            label={t('settings.userData.gender')}
            error={errors.gender}
            options={genders.map((value) => ({ value, label: t(`settings.userData.genders.${value}`) }))}
            value={values.gender}
            autoComplete="sex"
          />
        </div>
        <Work {...props} />
        <SelectField
          name="locale"
          label={t('settings.userData.locale')}
          error={errors.locale}
          options={[
            { value: '', label: t('settings.userData.localeDefault') },
            ...languages.map((value) => ({ value, label: languageNames[value] })),
          ]}
          value={values.locale}
          autoComplete="language"
        />
        <Checkbox
          name="newsletter"
          label={t('settings.userData.newsletterLabel')}
          checked={values.newsletter === 'true'}
          error={errors.newsletter}
        />
        <ActButtons submit={<Button>{t('settings.save')}</Button>} cancel={t('settings.cancel')} tab="user-data" />
      </form>
    </AccountAction>
  );
}
