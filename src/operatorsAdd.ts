export const ADD_USAGE = '';
export async function addOperator(_words: readonly string[]): Promise<void> {}
