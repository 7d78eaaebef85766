import { useDesk, useDeskState } from './hooks.ts';
import { Results } from './Results.tsx';
import { Upload } from './Upload.tsx';

/** A list: chosen, reviewed, checked. */
export function ListDesk() {
  const desk = useDesk();
  const isEmpty = useDeskState().rows.length === 0;
  return (
    <div className="list">
      {isEmpty ? (
        <Upload
          onCheck={(numbers, file) => {
            desk.load(numbers, file);
            void desk.checkList();
          }}
        />
      ) : (
        <Results />
      )}
    </div>
  );
}
