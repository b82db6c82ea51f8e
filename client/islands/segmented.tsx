import { useEffect, useRef } from 'react';
import { type SegmentedProps, SegmentedView } from '../../views/parts/segmented.tsx';
import { showPanel } from '../panels.ts';

/** Shows the panel of the chosen option, including one that was chosen before the hydration. */
export default function Segmented(props: SegmentedProps) {
  const group = useRef<HTMLFieldSetElement>(null);
  const show = (chosen: string | undefined) => {
    const { options } = props;
    const panels = options.map(({ panel }) => panel);
    showPanel(panels, options.find(({ value }) => value === chosen)?.panel);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, for what was chosen before
  useEffect(() => show(group.current?.querySelector<HTMLInputElement>(':checked')?.value), []);
  return <SegmentedView {...props} group={group} onChange={({ target }) => show(target.value)} />;
}
