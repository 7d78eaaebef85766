import { useDesk, useDeskState } from './hooks.ts';
import { Results } from './Results.tsx';
import { Upload } from './Upload.tsx';

/** A list: chosen, looked over, asked about. */
export function ListDesk() {
  const desk = useDesk();
  const isEmpty = useDeskState().rows.length === 0;
  return (
    <div className="list">
      {isEmpty ? (
        <Upload
          onAsk={(numbers) => {
            desk.load(numbers);
            void desk.askList();
          }}
        />
      ) : (
        <Results />
      )}
    </div>
  );
}
