import type { ChangeEvent, Ref } from 'react';
import type { PageContext } from '../page-context.ts';
import { Island } from './island.tsx';

export interface SegmentedProps {
  name: string;
  legend: string;
  /** `panel` is the id of the option's panel; the page renders the panels of the others `hidden`. */
  options: Array<{ value: string; label: string; panel?: string }>;
  chosen: string;
}

type SegmentedHandlers = {
  group?: Ref<HTMLFieldSetElement>;
  onChange?: (event: ChangeEvent<HTMLInputElement>) => void;
};

/** One of few, side by side: radio buttons that look like one control. */
export function SegmentedView({ name, legend, options, chosen, group, onChange }: SegmentedProps & SegmentedHandlers) {
  return (
    <fieldset className="segmented" ref={group}>
      <legend className="visually-hidden">{legend}</legend>
      {options.map(({ value, label }) => (
        <label key={value}>
          <input
            type="radio"
            name={name}
            value={value}
            defaultChecked={value === chosen}
            autoComplete="off"
            onChange={onChange}
          />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

/**
 * Shows the chosen option's panel at once. Without scripts its form has a button (`without-script`) that asks the
 * server.
 */
export function Segmented({ ctx, ...props }: { ctx: PageContext } & SegmentedProps) {
  return <Island ctx={ctx} name="segmented" view={SegmentedView} props={props} />;
}
