// When one of our types may replace one of CUDA's: the same; an int for an enum; void * for a
// handle; a struct for one of the same layout.
#ifndef AGREE_H
#define AGREE_H
#include <type_traits>

template <class Ours, class Theirs> struct same_layout : std::false_type {};
template <class Ours, class Theirs>
struct agree : std::integral_constant<bool,
                       std::is_same<Ours, Theirs>::value || same_layout<Ours, Theirs>::value ||
                               (std::is_enum<Theirs>::value &&
                                       (std::is_same<Ours, int>::value ||
                                               std::is_same<Ours, unsigned>::value))> {};
template <class Ours, class Theirs> struct agree<const Ours, const Theirs> : agree<Ours, Theirs> {};
template <class Ours, class Theirs> struct agree<Ours *, Theirs *> : agree<Ours, Theirs> {};
template <class Theirs>
struct agree<void *, Theirs *>
    : std::integral_constant<bool, std::is_void<Theirs>::value || std::is_class<Theirs>::value> {};
template <class Theirs> struct agree<const void *, const Theirs *> : agree<void *, Theirs *> {};
template <class...> struct list {};
template <class Ours, class... Ours2, class Theirs, class... Theirs2>
struct agree<list<Ours, Ours2...>, list<Theirs, Theirs2...>>
    : std::integral_constant<bool,
              agree<Ours, Theirs>::value && agree<list<Ours2...>, list<Theirs2...>>::value> {};
template <class Ours, class... Ours2, class Theirs, class... Theirs2>
struct agree<Ours(Ours2...), Theirs(Theirs2...)>
    : agree<list<Ours, Ours2...>, list<Theirs, Theirs2...>> {};
template <class T> struct one { T value; };

#define SAME(ours, theirs) \
    static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs), \
            #ours " is not " #theirs);

#endif
