import { pageForm } from '../page-context.ts';
import { Field } from '../parts/field.tsx';
import { AccountAction, ActButtons } from './account-action.tsx';
import type { FormPageProps } from './form-page.ts';

type NamePageProps = FormPageProps<'givenName' | 'familyName'>;

/** 'Edit Name' (specification, section 2). */
export function NamePage({ ctx, action, controls, values, errors, problem }: NamePageProps) {
  const { t } = ctx;
  const atFamilyName = errors.familyName !== undefined && errors.givenName === undefined;
  return (
    <AccountAction
      ctx={ctx}
      id="edit-name"
      title={t('settings.name.title')}
      lead={t('settings.name.lead')}
      tab="sign-in"
      problem={problem}
    >
      <form className="form" id={pageForm} method="post" action={action} noValidate>
        <Field
          {...controls.givenName}
          label={t('settings.name.givenName')}
          error={errors.givenName}
          defaultValue={values.givenName}
          autoFocus={!atFamilyName}
        />
        <Field
          {...controls.familyName}
          label={t('settings.name.familyName')}
          error={errors.familyName}
          defaultValue={values.familyName}
          autoFocus={atFamilyName}
        />
        <ActButtons ctx={ctx} submit={t('settings.save')} tab="sign-in" />
      </form>
    </AccountAction>
  );
}
