import type { ChangeEvent, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Button } from './button.tsx';
import { HiddenFields } from './hidden-fields.tsx';
import { Island } from './island.tsx';

export interface ToggleProps {
  name: string;
  label: string;
  detail?: string;
  checked: boolean;
  disabled?: boolean;
}

type ToggleHandlers = { input?: Ref<HTMLInputElement>; onChange?: (event: ChangeEvent<HTMLInputElement>) => void };

/** A switch between on and off. The browser does not restore it: the server's state counts. */
export function ToggleView({ name, label, detail, checked, disabled, input, onChange }: ToggleProps & ToggleHandlers) {
  return (
    <label className="toggle">
      <span className="toggle-words">
        <span className="toggle-label">{label}</span>
        {detail !== undefined && <span className="toggle-detail">{detail}</span>}
      </span>
      <input
        className="switch"
        type="checkbox"
        // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox says by itself whether it is checked
        role="switch"
        name={name}
        value="1"
        defaultChecked={checked}
        disabled={disabled}
        autoComplete="off"
        ref={input}
        onChange={onChange}
      />
    </label>
  );
}

/**
 * A switch whose form is submitted when it changes. The form's button for users without scripts is `without-script`.
 */
export function SavingToggle({ ctx, ...props }: { ctx: PageContext } & ToggleProps) {
  return <Island ctx={ctx} name="saving-toggle" view={ToggleView} props={props} />;
}

/** A separate setting: a switch in a form of its own. */
export function ToggleForm(
  props: ToggleProps & { ctx: PageContext; action: string; fields?: Record<string, string>; save: string },
) {
  const { action, fields = {}, save, ...toggle } = props;
  return (
    <form className="toggle-form" method="post" action={action}>
      <HiddenFields fields={fields} />
      <SavingToggle {...toggle} />
      <div className="without-script">
        <Button kind="quiet" size="small" disabled={toggle.disabled === true}>
          {save}
        </Button>
      </div>
    </form>
  );
}
