import { languageNames, languages } from '../../locales/index.ts';
import { type PageContext, pageForm } from '../page-context.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import { FormErrors } from '../parts/form-errors.tsx';
import { SelectField } from '../parts/select-field.tsx';
import { TextareaField } from '../parts/textarea-field.tsx';
import { AccountAction, ActButtons } from './account-action.tsx';
import type { FormPageProps } from './form-page.ts';
import { listUserDataFields, timeZones, type UserDataField, type UserDataGroup, userDataGroups } from './user-data.ts';

interface UserDataPageProps extends FormPageProps<UserDataField> {
  groups: Record<UserDataField, UserDataGroup | 'name'>;
  /** Fields that are not shown. */
  withheld?: readonly string[];
}

/** The specification's codes, the default first. */
const genders = ['0', '1', '2', '3'] as const;

/** The control of one field; most are one line of text. */
function UserDataControl({ name, ctx: { t }, controls, values, errors }: UserDataPageProps & { name: UserDataField }) {
  const field = { ...controls[name], label: t(`settings.userData.fields.${name}`), error: errors[name] };
  switch (name) {
    case 'preferredUsername':
      return <Field {...field} hint={t('settings.userData.usernameHint')} defaultValue={values.preferredUsername} />;
    case 'gender':
      return (
        <SelectField
          {...field}
          options={genders.map((value) => ({ value, label: t(`settings.userData.genders.${value}`) }))}
          value={values.gender}
        />
      );
    case 'address':
      return (
        <TextareaField {...field} hint={t('settings.userData.addressHint')} defaultValue={values.address} rows={3} />
      );
    case 'locale':
      return (
        <SelectField
          {...field}
          options={[
            { value: '', label: t('settings.userData.localeDefault') },
            ...languages.map((value) => ({ value, label: languageNames[value] })),
          ]}
          value={values.locale}
        />
      );
    case 'zoneinfo':
      return (
        <SelectField
          {...field}
          options={[
            { value: '', label: t('settings.userData.none') },
            ...timeZones.map((value) => ({ value, label: value.replaceAll('_', ' ') })),
          ]}
          value={values.zoneinfo}
        />
      );
    case 'newsletter':
      return (
        <Checkbox
          name={controls.newsletter.name}
          label={t('settings.userData.newsletterLabel')}
          checked={values.newsletter === 'true'}
          error={errors.newsletter}
        />
      );
    default:
      return <Field {...field} defaultValue={values[name]} />;
  }
}

const toLabels = ({ t }: PageContext, groups: UserDataPageProps['groups']) =>
  Object.fromEntries(listUserDataFields(groups).map((name) => [name, t(`settings.userData.fields.${name}`)])) as Record<
    UserDataField,
    string
  >;

/** The user data in one form (specification, section 3: user attributes). */
export function UserDataPage(props: UserDataPageProps) {
  const { ctx, action, controls, errors, groups, problem, withheld = [] } = props;
  const { t } = ctx;
  const toControl = (name: UserDataField) => <UserDataControl key={name} {...props} name={name} />;
  return (
    <AccountAction ctx={ctx} id="edit-user-data" title={t('settings.userData.edit')} tab="user-data" problem={problem}>
      <form className="form" id={pageForm} method="post" action={action} noValidate>
        <FormErrors ctx={ctx} controls={controls} errors={errors} labels={toLabels(ctx, groups)} />
        {userDataGroups.map((group) => {
          const names = listUserDataFields(groups).filter((name) => groups[name] === group && !withheld.includes(name));
          return names.length > 1 ? (
            <div key={group} className="pair">
              {names.map(toControl)}
            </div>
          ) : (
            names.map(toControl)
          );
        })}
        <ActButtons ctx={ctx} submit={t('settings.save')} tab="user-data" />
      </form>
    </AccountAction>
  );
}
