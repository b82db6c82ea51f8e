import { formatAmount } from '../../../views/format.ts';
import type { PageContext } from '../../../views/page-context.ts';
import { Checkbox } from '../../../views/parts/checkbox.tsx';
import { RadioCards } from '../../../views/parts/radio-cards.tsx';
import { Segmented } from '../../../views/parts/segmented.tsx';
import { SegmentedLinks } from '../../../views/parts/segmented-links.tsx';
import { ToggleForm, ToggleView } from '../../../views/parts/toggle.tsx';
import { textsFor } from '../../texts.ts';
import { Specimen, Specimens } from './specimen.tsx';

function Checkboxes({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const label = t('parts.choices.newsletter');
  return (
    <Specimens title={t('parts.names.checkbox')}>
      <Specimen ctx={ctx} state="rest">
        <Checkbox name="check-rest" label={label} />
      </Specimen>
      <Specimen ctx={ctx} state="filled">
        <Checkbox name="check-filled" label={label} checked />
      </Specimen>
      <Specimen ctx={ctx} state="hover">
        <Checkbox name="check-hover" label={label} />
      </Specimen>
      <Specimen ctx={ctx} state="focus">
        <Checkbox name="check-focus" label={label} checked />
      </Specimen>
      <Specimen ctx={ctx} state="invalid">
        <Checkbox name="check-invalid" label={label} error={t('parts.choices.checkError')} />
      </Specimen>
      <Specimen ctx={ctx} state="disabled">
        <Checkbox name="check-disabled" label={label} checked disabled />
      </Specimen>
    </Specimens>
  );
}

function Plans({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const { lang } = ctx;
  const price = (dollars: number) => ({
    amount: formatAmount(lang, dollars * 100, { wholes: true }),
    per: t('parts.choices.perYear'),
  });
  return (
    <Specimens title={t('parts.names.radioCards')}>
      <Specimen ctx={ctx} state="filled">
        <RadioCards
          name="plan"
          legend={t('parts.choices.plan')}
          value="growth"
          cards={[
            {
              value: 'starter',
              title: t('parts.choices.starter'),
              detail: t('parts.choices.starterDetail'),
              price: price(900),
            },
            {
              value: 'growth',
              title: t('parts.choices.growth'),
              detail: t('parts.choices.growthDetail'),
              badge: t('parts.choices.badge'),
              price: price(5000),
            },
            {
              value: 'scale',
              title: t('parts.choices.scale'),
              detail: t('parts.choices.scaleDetail'),
              price: price(8000),
            },
          ]}
        />
      </Specimen>
      <Specimen ctx={ctx} state="invalid">
        <RadioCards
          name="factor"
          legend={t('parts.choices.factor')}
          error={t('parts.choices.factorError')}
          cards={[
            { value: 'app', title: t('parts.choices.app'), detail: t('parts.choices.appDetail') },
            { value: 'sms', title: t('parts.choices.sms'), detail: t('parts.choices.smsDetail'), disabled: true },
          ]}
        />
      </Specimen>
    </Specimens>
  );
}

function Switches({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const words = { label: t('parts.choices.mfa'), detail: t('parts.choices.mfaDetail') };
  return (
    <Specimens title={t('parts.names.toggle')}>
      <Specimen ctx={ctx} state="rest">
        <ToggleView {...words} name="toggle-rest" checked={false} />
      </Specimen>
      <Specimen ctx={ctx} state="filled">
        <ToggleView {...words} name="toggle-filled" checked />
      </Specimen>
      <Specimen ctx={ctx} state="focus">
        <ToggleView {...words} name="toggle-focus" checked />
      </Specimen>
      <Specimen ctx={ctx} state="disabled">
        <ToggleView {...words} name="toggle-disabled" checked={false} disabled />
      </Specimen>
      <Specimen ctx={ctx} state="rest">
        <ToggleForm
          ctx={ctx}
          {...words}
          name="toggle-form"
          checked={false}
          action="/sandbox/parts"
          save={t('parts.buttons.save')}
        />
      </Specimen>
    </Specimens>
  );
}

export function ChoiceParts({ ctx }: { ctx: PageContext }) {
  const t = textsFor(ctx);
  const [annual, monthly] = [t('common.interval.annual'), t('common.interval.monthly')];
  return (
    <>
      <Checkboxes ctx={ctx} />
      <Plans ctx={ctx} />
      <Switches ctx={ctx} />
      <Specimens title={t('parts.names.segmented')}>
        <Specimen ctx={ctx} state="rest">
          <SegmentedLinks
            label={t('common.interval.label')}
            parts={[
              { href: '#annual', label: annual, current: true },
              { href: '#monthly', label: monthly },
            ]}
          />
        </Specimen>
        <Specimen ctx={ctx} state="filled">
          <Segmented
            ctx={ctx}
            name="interval"
            legend={t('common.interval.label')}
            chosen="month"
            options={[
              { value: 'year', label: annual, panel: 'prices-year' },
              { value: 'month', label: monthly, panel: 'prices-month' },
            ]}
          />
          <p className="muted small" id="prices-year" hidden>
            {formatAmount(ctx.lang, 500_000)} {t('parts.choices.perYear')}
          </p>
          <p className="muted small" id="prices-month">
            {formatAmount(ctx.lang, 49_900)} {t('parts.choices.perMonth')}
          </p>
        </Specimen>
      </Specimens>
    </>
  );
}
