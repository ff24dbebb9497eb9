//! Asking for a cache line ahead of its use.

/// Asks for the cache line of `items[at]`, without waiting for it.
///
/// Only a hint: outside of `items`, and on machines without such an instruction here, it does nothing.
#[inline(always)]
pub fn prefetch<T>(items: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = items.as_ptr().wrapping_add(at);
        // SAFETY: the instruction is part of every x86-64, reads nothing that the program sees, and never faults,
        // whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (items, at);
}
