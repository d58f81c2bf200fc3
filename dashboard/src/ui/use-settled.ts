import { useEffect, useState } from "react";

/** The value as it is once it has stayed the same for so long: for what is asked while somebody types. The first counts at once. */
export function useSettled<Value>(value: Value, ms: number): readonly [value: Value, isSettling: boolean] {
  const name = JSON.stringify(value);
  const [settled, setSettled] = useState({ name, value });
  useEffect(() => {
    if (name === settled.name) return;
    const timer = setTimeout(() => setSettled({ name, value: JSON.parse(name) as Value }), ms);
    return () => clearTimeout(timer);
  }, [name, ms, settled.name]);
  return [settled.value, name !== settled.name];
}
