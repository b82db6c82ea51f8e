import type { ChangeEvent, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Island } from './island.tsx';

export interface ToggleProps {
  name: string;
  label: string;
  checked: boolean;
}

type Live = { input?: Ref<HTMLInputElement>; onChange?: (event: ChangeEvent<HTMLInputElement>) => void };

/** A switch for something that is on or off. Not restored by the browser: what the server said is how it is. */
export function ToggleView({ name, label, checked, input, onChange }: ToggleProps & Live) {
  return (
    <label className="toggle">
      <input
        type="checkbox"
        // biome-ignore lint/a11y/useAriaPropsForRole: a checkbox says by itself whether it is checked
        role="switch"
        name={name}
        value="1"
        defaultChecked={checked}
        autoComplete="off"
        ref={input}
        onChange={onChange}
      />
      <span className="toggle-track" aria-hidden="true" />
      <span>{label}</span>
    </label>
  );
}

/** A switch whose form is sent as soon as it moves. The form's button for members without scripts is `without-script`. */
export function SavingToggle({ ctx, ...props }: { ctx: PageContext } & ToggleProps) {
  return <Island ctx={ctx} name="saving-toggle" view={ToggleView} props={props} />;
}
