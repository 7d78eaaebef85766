declare module 'cluster-key-slot' {
  export default function slotOf(key: string): number;
}
