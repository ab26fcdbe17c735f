package parity

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
)

// store is what kube-scheduler's plugins read beside the snapshot of nodes and pods: informers that are never started. A case is put into
// their indexers by hand, and those that listen are called before put returns, so that nothing has to be waited for.
type store struct {
	client   *fake.Clientset
	factory  informers.SharedInformerFactory
	contents map[string]*informer
}

// informer has the handlers of one that runs called synchronously.
type informer struct {
	cache.SharedIndexInformer
	handlers []cache.ResourceEventHandler
}

func (i *informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	i.handlers = append(i.handlers, handler)
	return nil, nil
}

// replace makes objects all that there is.
func (i *informer) replace(objects []any) error {
	indexer := i.GetIndexer()
	before := indexer.List()
	if err := indexer.Replace(objects, ""); err != nil {
		return err
	}
	for _, handler := range i.handlers {
		for _, object := range before {
			handler.OnDelete(object)
		}
		for _, object := range objects {
			handler.OnAdd(object, false)
		}
	}
	return nil
}

// newStore has an informer for each kind of a case. They have to be there before any plugin asks for one.
func newStore() *store {
	client := fake.NewClientset()
	s := &store{client: client, factory: informers.NewSharedInformerFactory(client, 0), contents: map[string]*informer{}}
	for _, kind := range []runtime.Object{
		&corev1.Node{}, &corev1.Namespace{}, &corev1.PersistentVolume{}, &corev1.PersistentVolumeClaim{},
		&storagev1.StorageClass{}, &storagev1.CSINode{}, &storagev1.CSIDriver{}, &storagev1.CSIStorageCapacity{}, &storagev1.VolumeAttachment{},
		&corev1.Service{}, &corev1.ReplicationController{}, &appsv1.ReplicaSet{}, &appsv1.StatefulSet{},
	} {
		// The factory keeps the first informer of a kind that it is given.
		made := &informer{SharedIndexInformer: cache.NewSharedIndexInformer(&cache.ListWatch{}, kind, 0,
			cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})}
		s.contents[fmt.Sprintf("%T", kind)] = made
		s.factory.InformerFor(kind, func(_ kubernetes.Interface, _ time.Duration) cache.SharedIndexInformer { return made })
	}
	return s
}

// put replaces what was there by the objects of a case.
func (s *store) put(c *Case) error {
	for _, err := range []error{
		replace(s, c.Nodes), replace(s, c.Namespaces), replace(s, c.Volumes), replace(s, c.Claims),
		replace(s, c.Classes), replace(s, c.CSINodes), replace(s, c.CSIDrivers), replace(s, c.Capacities), replace(s, c.Attachments),
		replace(s, c.Services), replace(s, c.ReplicationControllers), replace(s, c.ReplicaSets), replace(s, c.StatefulSets),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

func replace[T any](s *store, objects []T) error {
	all := make([]any, len(objects))
	for i := range objects {
		all[i] = &objects[i]
	}
	return s.contents[fmt.Sprintf("%T", new(T))].replace(all)
}
