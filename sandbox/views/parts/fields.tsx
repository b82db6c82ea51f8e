import type { PageContext } from '../../../views/page-context.ts';
import { CodeInput } from '../../../views/parts/code-input.tsx';
import { Field } from '../../../views/parts/field.tsx';
import { NewPassword } from '../../../views/parts/new-password.tsx';
import { SelectField } from '../../../views/parts/select-field.tsx';
import { TextareaField } from '../../../views/parts/textarea-field.tsx';
import { textsFor } from '../../texts.ts';
import { Specimen, Specimens } from './specimen.tsx';

function TextFields({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const email = { label: t('parts.fields.email'), type: 'email', autoComplete: 'off' } as const;
  return (
    <Specimens title={t('parts.names.field')}>
      <Specimen ctx={ctx} state="rest">
        <Field
          {...email}
          name="rest"
          hint={t('parts.fields.emailHint')}
          placeholder={t('parts.fields.emailPlaceholder')}
        />
      </Specimen>
      <Specimen ctx={ctx} state="hover">
        <Field {...email} name="hover" />
      </Specimen>
      <Specimen ctx={ctx} state="focus">
        <Field {...email} name="focus" defaultValue="vera@example.com" />
      </Specimen>
      <Specimen ctx={ctx} state="invalid">
        <Field {...email} name="invalid" defaultValue="vera@example" error={t('parts.fields.emailError')} />
      </Specimen>
      <Specimen ctx={ctx} state="readOnly">
        <Field {...email} name="read-only" defaultValue="vera@example.com" readOnly />
      </Specimen>
      <Specimen ctx={ctx} state="disabled">
        <Field {...email} name="disabled" defaultValue="vera@example.com" disabled />
      </Specimen>
    </Specimens>
  );
}

function OtherFields({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const countries = (['be', 'de', 'fr', 'nl'] as const).map((value) => ({
    value,
    label: new Intl.DisplayNames(ctx.lang, { type: 'region' }).of(value.toUpperCase()) ?? value,
  }));
  const country = { label: t('parts.fields.country'), options: countries };
  const about = { label: t('parts.fields.about') };
  return (
    <>
      <Specimens title={t('parts.names.select')}>
        <Specimen ctx={ctx} state="rest">
          <SelectField {...country} name="country" placeholder={t('parts.fields.choose')} />
        </Specimen>
        <Specimen ctx={ctx} state="filled">
          <SelectField {...country} name="country-filled" value="nl" />
        </Specimen>
        <Specimen ctx={ctx} state="invalid">
          <SelectField
            {...country}
            name="country-invalid"
            placeholder={t('parts.fields.choose')}
            error={t('parts.fields.countryError')}
          />
        </Specimen>
        <Specimen ctx={ctx} state="disabled">
          <SelectField {...country} name="country-disabled" value="de" disabled />
        </Specimen>
      </Specimens>
      <Specimens title={t('parts.names.textarea')}>
        <Specimen ctx={ctx} state="rest">
          <TextareaField {...about} name="about" hint={t('parts.fields.aboutHint')} />
        </Specimen>
        <Specimen ctx={ctx} state="disabled">
          <TextareaField {...about} name="about-disabled" defaultValue={t('parts.fields.aboutValue')} disabled />
        </Specimen>
      </Specimens>
    </>
  );
}

function Secrets({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const password = { ctx, label: t('parts.fields.newPassword') };
  const code = { ctx, label: t('parts.fields.code'), length: 6, incomplete: t('parts.fields.codeError') } as const;
  return (
    <>
      <Specimens title={t('parts.names.password')}>
        <Specimen ctx={ctx} state="rest">
          <NewPassword {...password} name="password" />
        </Specimen>
        <Specimen ctx={ctx} state="invalid">
          <NewPassword {...password} name="password-invalid" error={t('parts.fields.passwordError')} />
        </Specimen>
      </Specimens>
      <Specimens title={t('parts.names.code')}>
        <Specimen ctx={ctx} state="rest">
          <CodeInput {...code} name="code" hint={t('parts.fields.codeHint')} />
        </Specimen>
        <Specimen ctx={ctx} state="focus">
          <CodeInput {...code} name="code-focus" value="4071" />
        </Specimen>
        <Specimen ctx={ctx} state="invalid">
          <CodeInput {...code} name="code-invalid" value="407128" error={t('parts.fields.codeError')} />
        </Specimen>
        <Specimen ctx={ctx} state="disabled">
          <CodeInput {...code} name="code-disabled" value="407128" disabled />
        </Specimen>
      </Specimens>
    </>
  );
}

export function FieldParts({ ctx }: { ctx: PageContext }) {
  return (
    <>
      <TextFields ctx={ctx} />
      <Secrets ctx={ctx} />
      <OtherFields ctx={ctx} />
    </>
  );
}
