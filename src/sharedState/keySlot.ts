/** How many slots a Redis Cluster has. */
export const SLOTS = 16_384;

/** The slot of a key: of its hash tag, the text in its first pair of braces, where there is one (Redis Cluster specification, "Hash tags"). */
export function slotOf(key: string): number {
  const opens = key.indexOf('{');
  const closes = opens < 0 ? -1 : key.indexOf('}', opens + 1);
  return crc16(closes > opens + 1 ? key.slice(opens + 1, closes) : key) % SLOTS;
}

/** CRC-16/XMODEM. */
function crc16(text: string): number {
  let crc = 0;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit += 1) {
      crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
    }
  }
  return crc & 0xffff;
}
