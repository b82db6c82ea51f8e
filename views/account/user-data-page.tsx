import { languageNames, languages } from '../../locales/index.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import { SelectField } from '../parts/select-field.tsx';
import { TextareaField } from '../parts/textarea-field.tsx';
import { AccountAction, ActButtons } from './account-action.tsx';
import type { FormPageProps } from './form-page.ts';
import { listTextFields, timeZones, type UserDataField } from './user-data.ts';

export type UserDataPageProps = FormPageProps<UserDataField>;

/** The specification's codes, the default first. */
const genders = ['0', '1', '2', '3'] as const;

/** The user data in one form (specification, section 3: user attributes). */
export function UserDataPage({ ctx, action, controls, values, errors, problem }: UserDataPageProps) {
  const { t } = ctx;
  const toField = (name: UserDataField) => ({
    ...controls[name],
    label: t(`settings.userData.fields.${name}`),
    error: errors[name],
  });
  return (
    <AccountAction ctx={ctx} id="edit-user-data" title={t('settings.userData.edit')} tab="user-data" problem={problem}>
      <form className="form" method="post" action={action} noValidate>
        <Field
          {...toField('preferredUsername')}
          hint={t('settings.userData.usernameHint')}
          defaultValue={values.preferredUsername}
        />
        <div className="pair">
          <Field {...toField('birthdate')} defaultValue={values.birthdate} />
          <SelectField
            {...toField('gender')}
            options={genders.map((value) => ({ value, label: t(`settings.userData.genders.${value}`) }))}
            value={values.gender}
          />
        </div>
        <TextareaField
          {...toField('address')}
          hint={t('settings.userData.addressHint')}
          defaultValue={values.address}
          rows={3}
        />
        <div className="pair">
          {listTextFields(controls).map((name) => (
            <Field key={name} {...toField(name)} defaultValue={values[name]} />
          ))}
        </div>
        <div className="pair">
          <SelectField
            {...toField('locale')}
            options={[
              { value: '', label: t('settings.userData.localeDefault') },
              ...languages.map((value) => ({ value, label: languageNames[value] })),
            ]}
            value={values.locale}
          />
          <SelectField
            {...toField('zoneinfo')}
            options={[
              { value: '', label: t('settings.userData.none') },
              ...timeZones.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
            ]}
            value={values.zoneinfo}
          />
        </div>
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
