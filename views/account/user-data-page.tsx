import { languageNames, languages } from '../../locales/index.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import { SelectField } from '../parts/select-field.tsx';
import { TextareaField } from '../parts/textarea-field.tsx';
import { AccountAction, ActButtons } from './account-action.tsx';
import type { FormPageProps } from './form-page.ts';

type Name = 'birthdate' | 'gender' | 'address' | 'companyName' | 'jobTitle' | 'newsletter' | 'locale';
export type UserDataPageProps = FormPageProps<Name>;

/** The specification's codes, the default first. */
const genders = ['0', '1', '2', '3'] as const;

/** The user's work and place. */
function Work({ ctx, controls, values, errors }: UserDataPageProps) {
  const { t } = ctx;
  return (
    <>
      <TextareaField
        {...controls.address}
        label={t('settings.userData.address')}
        hint={t('settings.userData.addressHint')}
        error={errors.address}
        defaultValue={values.address}
        rows={3}
      />
      <div className="pair">
        <Field
          {...controls.companyName}
          label={t('settings.userData.companyName')}
          error={errors.companyName}
          defaultValue={values.companyName}
        />
        <Field
          {...controls.jobTitle}
          label={t('settings.userData.jobTitle')}
          error={errors.jobTitle}
          defaultValue={values.jobTitle}
        />
      </div>
    </>
  );
}

/** The user data in one form (specification, section 3: user attributes). */
export function UserDataPage(props: UserDataPageProps) {
  const { ctx, action, controls, values, errors, problem } = props;
  const { t } = ctx;
  return (
    <AccountAction ctx={ctx} id="edit-user-data" title={t('settings.userData.edit')} tab="user-data" problem={problem}>
      <form className="form" method="post" action={action} noValidate>
        <div className="pair">
          <Field
            {...controls.birthdate}
            label={t('settings.userData.birthdate')}
            error={errors.birthdate}
            defaultValue={values.birthdate}
          />
          <SelectField
            {...controls.gender}
            label={t('settings.userData.gender')}
            error={errors.gender}
            options={genders.map((value) => ({ value, label: t(`settings.userData.genders.${value}`) }))}
            value={values.gender}
          />
        </div>
        <Work {...props} />
        <SelectField
          {...controls.locale}
          label={t('settings.userData.locale')}
          error={errors.locale}
          options={[
            { value: '', label: t('settings.userData.localeDefault') },
            ...languages.map((value) => ({ value, label: languageNames[value] })),
          ]}
          value={values.locale}
        />
        <Checkbox
          name={controls.newsletter.name}
          label={t('settings.userData.newsletterLabel')}
          checked={values.newsletter === 'true'}
          error={errors.newsletter}
        />
        <ActButtons ctx={ctx} submit={t('settings.save')} tab="user-data" />
      </form>
    </AccountAction>
  );
}
